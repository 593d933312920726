// A second process for the crash test: kills itself before the given one of all steps that publication does on the disk.
import fs, { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, requestOf } from './stores.ts';

type Functions = Record<string, (...args: unknown[]) => unknown>;

const [folder = '', callId = '', step = '', stdout = ''] = process.argv.slice(2);
let done = 0;

function countSteps(object: unknown, names: readonly string[]): void {
  const functions = object as Functions;
  for (const name of names) {
    const original = functions[name];
    if (original === undefined) throw new Error(`there is no ${name}`);
    functions[name] = function (this: unknown, ...args) {
      done += 1;
      if (done === Number(step)) process.kill(process.pid, 'SIGKILL');
      return original.apply(this, args);
    };
  }
}

const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const capture = await store.capture({ ...requestOf(BASH), callId });
await capture.accept([
  { stream: 'stdout', text: stdout },
  { stream: 'stderr', text: 'the error\n' },
]);
const handle = await open('/dev/null');
countSteps(Object.getPrototypeOf(handle), ['read', 'stat', 'sync', 'truncate', 'utimes', 'write']);
countSteps(fs, ['link', 'lstat', 'open', 'rename', 'unlink']);
syncBuiltinESMExports();
const { retained, release } = await capture.finish({ incomplete: false });
process.stdout.write(`${retained?.reference.uri.replace('sha256/', '')}\n`);
await release();
process.stdout.write(`${done}\n`);
