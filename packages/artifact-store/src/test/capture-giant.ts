// A process of its own for the test of memory: captures one line of the given number of megabytes, in 64 KiB chunks.
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, requestOf } from './stores.ts';

const [folder = '', megabytes = ''] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const text = 'x'.repeat(64 * 1024);
const capture = await store.capture(requestOf(BASH));
await capture.accept([{ stream: 'stdout', text }]);
const idle = process.resourceUsage().maxRSS;
for (let chunk = 0; chunk < Number(megabytes) * 16; chunk += 1)
  await capture.accept([{ stream: 'stdout', text }]);
const { retained, release } = await capture.finish({ incomplete: false });
await release();
const grownKib = process.resourceUsage().maxRSS - idle;
process.stdout.write(`${JSON.stringify({ grownKib, byteLength: retained?.streams[0]?.byte_length })}\n`);
