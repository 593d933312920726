// A second process for the race of publication and collection: collects all the time, for whom everything is old.
import { access } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { randomIds, systemClock } from '@agentd/contract';
import { ArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { logFilesUnder } from '../log-files.ts';
import { NO_ABORT } from './stores.ts';

const [folder = '', sessions = '', stop = ''] = process.argv.slice(2);
const clock = { ...systemClock, now: () => Date.now() + 2 * 60 * 60 * 1000 };
const store = new ArtifactStore({ folder, locks: fileLocks, clock, ids: randomIds });
const counts = { collected: 0, skipped: 0, failed: 0, removed: 0 };
const stopped = (): Promise<boolean> =>
  access(stop).then(
    () => true,
    () => false,
  );
let hasToldEnough = false;
process.stdout.write('ready\n');
while (!(await stopped())) {
  const report = await store.collect({ logs: () => logFilesUnder(sessions, 'events.jsonl') }, NO_ABORT);
  counts[report.kind] += 1;
  if (report.kind === 'collected') counts.removed += report.tallies.removed.count;
  if (!hasToldEnough && counts.removed > 20 && counts.skipped > 0) {
    hasToldEnough = true;
    process.stdout.write('enough\n');
  }
  await delay(2); // Publishers get a chance too.
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
