// A second process for the test of a folder that cannot be written: it gives up the rights of root, if it has them.
import { chmod, chown, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, captureAll, readPages, requestOf } from './stores.ts';

const NOBODY = 65_534;
const [folder = ''] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const capture = (text: string) => captureAll(store, requestOf(BASH), [{ stream: 'stdout', text }]);
const before = await capture('before\n');
if (process.getuid?.() === 0) {
  const names = (await readdir(folder)).map((name) => join(folder, name));
  for (const path of [dirname(folder), folder, ...names]) await chown(path, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
}
await chmod(folder, 0o500);
const during = await capture('during\n');
const read = await readPages(store, `${before.retained?.reference.uri.replace('sha256/', '')}/stdout`);
await chmod(folder, 0o700);
const after = await capture('after\n');
process.stdout.write(`${JSON.stringify({ during, read, after })}\n`);
