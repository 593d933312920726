import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { codeOf } from '@agentd/contract';
import { BASH, captureAll, NO_ABORT, openStore, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const newStore = async () => openStore(await newFolder());
const PICTURE = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const blobsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => /^[0-9a-f]{64}$/.test(name));

describe('whole files', () => {
  it('are blobs like any other: by content, once, with mode 0600, in the form that events store [ART-1] [ART-3] [ART-16]', async () => {
    const { store, folder } = await newStore();
    const other = Uint8Array.from([1, 2, 3]);
    const { files, release } = await store.keep([PICTURE, other, PICTURE]);
    await release();
    expect(files).toEqual(
      [PICTURE, other, PICTURE].map((bytes) => ({
        sha256: sha256(bytes),
        reference: { uri: `artifact://sha256/${sha256(bytes)}` },
      })),
    );
    expect(await blobsIn(folder)).toHaveLength(2);
    expect((await stat(join(folder, sha256(PICTURE)))).mode & 0o777).toBe(0o600);
    expect(await store.blob(sha256(PICTURE), NO_ABORT)).toEqual(PICTURE);
  });

  it('come back whole and verified, whatever their size [ART-2] [ART-16]', async () => {
    const { store } = await newStore();
    const large = Uint8Array.from({ length: 3 * 1024 * 1024 + 7 }, (_, at) => at % 251);
    const empty = new Uint8Array();
    await (await store.keep([large, empty])).release();
    expect(Buffer.compare(await store.blob(sha256(large), NO_ABORT), large)).toBe(0);
    expect(await store.blob(sha256(empty), NO_ABORT)).toEqual(empty);
  });

  it('that are missing or damaged say so, and keeping them again heals them [ART-2] [ART-16]', async () => {
    const { store, folder } = await newStore();
    const digest = sha256(PICTURE);
    const fault = async () => codeOf(await store.blob(digest, NO_ABORT).catch((error: unknown) => error));
    expect(await fault()).toBe('artifact_missing');
    await writeFile(join(folder, digest), 'something else', { mode: 0o600 });
    expect(await fault()).toBe('artifact_corrupt');
    await (await store.keep([PICTURE])).release();
    expect(await store.blob(digest, NO_ABORT)).toEqual(PICTURE);
  });

  it('cannot be read by page: the error names type and size [ART-16]', async () => {
    const { store } = await newStore();
    await (await store.keep([PICTURE])).release();
    const address = store.parse(`artifact://${sha256(PICTURE)}`);
    await expect(store.page({ address, offset: 0, limit: 1 }, NO_ABORT)).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringMatching(/image\/png of 12 bytes/),
    });
  });

  it('end with the reason of the signal [ART-16]', async () => {
    const { store } = await newStore();
    await (await store.keep([PICTURE])).release();
    const reason = new Error('enough');
    await expect(store.blob(sha256(PICTURE), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('keep the janitor away until they are released, beside output that is being published [ART-10] [ART-16]', async () => {
    const { store, folder } = await newStore();
    const log = join(folder, '..', 'events.jsonl');
    const logs = async function* () {
      yield log;
    };
    await writeFile(log, '');
    const collect = () => store.collect({ logs }, NO_ABORT);
    const kept = await store.keep([PICTURE]);
    await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text: 'x' }]);
    expect((await collect()).kind).toBe('skipped');
    await kept.release();
    await kept.release();
    expect((await collect()).kind).toBe('collected');
  });
});
