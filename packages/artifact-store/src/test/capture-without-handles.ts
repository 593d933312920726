// A second process for the test of file handles: run it with a low limit (`ulimit -n`), which it then uses up.
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { codeOf, messageOf, randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { BASH, captureAll, readPages, requestOf } from './stores.ts';

const [folder = ''] = process.argv.slice(2);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const capture = (text: string) => captureAll(store, requestOf(BASH), [{ stream: 'stdout', text }]);
const before = await capture('before\n');
const uri = `${before.retained?.reference.uri.replace('sha256/', '')}/stdout`;
const half = await store.capture(requestOf(BASH));
await half.accept([{ stream: 'stdout', text: 'begun\n' }]);

const taken: FileHandle[] = [];
const takeAll = async (): Promise<string | undefined> => {
  try {
    for (;;) taken.push(await open('/dev/null'));
  } catch (error) {
    return codeOf(error);
  }
};
const fault = await takeAll();
const begun = await half.finish({ incomplete: false });
await begun.release();
await takeAll();
const during = await capture('during\n');
const page = await readPages(store, uri).catch((error: unknown) => [codeOf(error), messageOf(error)]);
await Promise.all(taken.map((handle) => handle.close()));
const after = await capture('after\n');
const read = await readPages(store, uri);
const left = (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
process.stdout.write(`${JSON.stringify({ fault, begun, during, page, after, read, left })}\n`);
