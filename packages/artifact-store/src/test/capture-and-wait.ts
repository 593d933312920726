// A second process for the tests of recovery: captures for a given call, and waits to be killed.
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, requestOf } from './stores.ts';

const [folder = '', callId = '', end] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const capture = await store.capture({ ...requestOf(BASH), callId });
await capture.accept([{ stream: 'stdout', text: 'before the \x1b[31mcrash\n' }]);
if (end === 'finish') {
  const { retained } = await capture.finish({ incomplete: false });
  process.stdout.write(`${retained?.reference.uri}\n`);
}
process.stdout.write('waiting\n');
setInterval(() => {}, 60_000);
