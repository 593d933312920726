// A second process for the crash test: captures, publishes and releases without end, and says what it published.
import { setImmediate } from 'node:timers/promises';
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { loopLine } from './loop-text.ts';
import { BASH, requestOf } from './stores.ts';

const [folder = ''] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
process.stdout.write('ready\n');
for (let round = 0; ; round += 1) {
  const request = requestOf(BASH);
  const capture = await store.capture(request);
  for (let line = 0; line < 20 + (round % 5) * 400; line += 10) {
    const lines = Array.from({ length: 10 }, (_, at) => line + at);
    for (const stream of ['stdout', 'stderr']) {
      await capture.accept([
        { stream, text: lines.map((at) => loopLine(request.callId, stream, at)).join('') },
      ]);
    }
    if (line % 100 === 0) await setImmediate();
  }
  const { retained, release } = await capture.finish({ incomplete: false });
  process.stdout.write(`${retained?.reference.uri.replace('sha256/', '')}\n`);
  await release();
}
