// A second process for the test of a full disk: its folder is a file system of 1 MiB.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, NO_ABORT, captureAll, readPages, requestOf } from './stores.ts';

const [mount = ''] = process.argv.slice(2);
const folder = join(mount, 'artifacts');
const ballast = join(mount, 'ballast');

async function fillTheDisk(): Promise<string | undefined> {
  try {
    for (;;) await writeFile(ballast, Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    return codeOf(error);
  }
}

const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const capture = (text: string) => captureAll(store, requestOf(BASH), [{ stream: 'stdout', text }]);
const before = await capture('before\n');
const during = await capture(Array.from({ length: 1_000_000 }, (_, at) => `${at + 1}\n`).join(''));
const filled = await fillTheDisk();
const whileFull = await capture('/dev/full 100%\n');
const read = await readPages(store, `${before.retained?.reference.uri.replace('sha256/', '')}/stdout`);
const collected = await store.collect({ logs: async function* () {} }, NO_ABORT);
await rm(ballast);
const after = await capture('after\n');
const left = await readdir(folder);
process.stdout.write(`${JSON.stringify({ during, filled, whileFull, read, collected, after, left })}\n`);
