// A second process for the tests of faults: run it with a limit on the size of files (`ulimit -f`).
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, captureAll, readPages, requestOf } from './stores.ts';

const [folder = ''] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const line = `${'x'.repeat(99)}\n`;
const chunks = Array.from({ length: 400 }, () => ({ stream: 'stdout', text: line.repeat(100) }));
const before = await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text: 'before\n' }]);
const during = await captureAll(store, requestOf(BASH), [
  ...chunks,
  { stream: 'stderr', text: 'the error\n' },
]);
const after = await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text: 'after\n' }]);
const read = await readPages(store, `${before.retained?.reference.uri.replace('sha256/', '')}/stdout`);
process.stdout.write(`${JSON.stringify({ during, after, read })}\n`);
