import { mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from './artifact-store.ts';
import { bytesSource } from './blob-backend.ts';
import { fileBackend } from './file-backend.ts';
import { fileLocks } from './file-locks.ts';
import { memoryBackend } from './memory-backend.ts';
import { BASH, NO_ABORT, SINGLE, captureAll, hintOf, readPages, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';
import { blobBackendCases } from './testing/index.ts';

const newFolder = temporaryFolders();
const base = { locks: fileLocks, clock: systemClock, ids: randomIds };
const newFileBackend = async () => fileBackend({ folder: await newFolder(), ...base });

describe('fileBackend keeps the contract of BlobBackend', () => {
  it.each(blobBackendCases)('$name', async ({ run }) => run(await newFileBackend()));
});

describe('memoryBackend keeps the contract of BlobBackend', () => {
  it.each(blobBackendCases)('$name', async ({ run }) => run(memoryBackend()));
});

describe('fileBackend', () => {
  const content = bytesSource(Buffer.from('content'));
  const digest = sha256('content');

  it('makes one file of mode 0600 and leaves no other [ART-1]', async () => {
    const folder = await newFolder();
    const backend = fileBackend({ folder, ...base });
    await backend.put(digest, content);
    await backend.replace(digest, content);
    await backend.refresh(digest);
    expect(await readdir(folder)).toEqual([digest]);
    expect((await stat(join(folder, digest))).mode & 0o777).toBe(0o600);
  });

  it('links a file that the source has, instead of copying it', async () => {
    const folder = await newFolder();
    const path = join(folder, 'capture');
    await writeFile(path, 'content');
    const file = { path, settle: async () => {} };
    const source = {
      ...content,
      file,
      chunks: () => {
        throw new Error('read');
      },
    };
    const backend = fileBackend({ folder, ...base });
    expect(await backend.put(digest, source)).toBe(true);
    const { ino } = await stat(path);
    expect((await stat(join(folder, digest))).ino).toBe(ino);
    await backend.replace(digest, source); // Both names are the same file.
    expect((await readdir(folder)).toSorted()).toEqual([digest, 'capture'].toSorted());
    expect(await readFile(path, 'utf8')).toBe('content');
  });

  it('does not follow a link, does not list it, and replaces it alone [ART-2]', async () => {
    const folder = await newFolder();
    const secret = join(await newFolder(), 'secret');
    await writeFile(secret, 'content');
    await symlink(secret, join(folder, digest));
    const backend = fileBackend({ folder, ...base });
    await expect(backend.stat(digest)).rejects.toMatchObject({ code: 'ARTIFACT_STORE_NO_BLOB' });
    await expect(backend.refresh(digest)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(
      backend.get(digest, { start: 0, end: 9 })[Symbol.asyncIterator]().next(),
    ).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await backend.put(digest, content)).toBe(false);
    for await (const entry of backend.list()) throw new Error(`listed ${entry.digest}`);
    await backend.replace(digest, bytesSource(Buffer.from('content')));
    expect((await stat(join(folder, digest))).isFile()).toBe(true);
    await backend.delete(digest);
    expect(await readFile(secret, 'utf8')).toBe('content');
  });

  it('moves a folder out of the way of a blob and keeps what is in it [OUT-13]', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, digest));
    await writeFile(join(folder, digest, 'notes'), 'of somebody');
    await fileBackend({ folder, ...base }).replace(digest, content);
    expect(await readFile(join(folder, digest), 'utf8')).toBe('content');
    const aside = (await readdir(folder)).find((name) => name.startsWith(`.damaged-${digest}.`)) ?? '';
    expect(await readFile(join(folder, aside, 'notes'), 'utf8')).toBe('of somebody');
  });
});

describe('a store on another backend', () => {
  it.each([
    ['in memory', async () => memoryBackend()],
    ['in another folder', newFileBackend],
  ])(
    '%s captures, pages, deduplicates and collects, and keeps no blob of its own [ART-1] [ART-4] [ART-9]',
    async (_, open) => {
      const backend = await open();
      const folder = join(await newFolder(), 'artifacts');
      const store = await openArtifactStore({ folder, ...base, backend });
      const text = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join('');
      const { text: shown, retained } = await captureAll(store, requestOf(BASH), [
        { stream: 'stdout', text },
      ]);
      await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text }]);
      await captureAll(store, requestOf(SINGLE), [{ text }]);
      const hint = hintOf(shown)!;
      expect((await readPages(store, hint.uri, hint)).join('')).toBe(
        text.slice(text.indexOf(`line ${hint.offset}\n`)),
      );
      expect(await readdir(folder)).toEqual(['.publication.lock']);
      const log = join(folder, '..', 'events.jsonl');
      await writeFile(log, `${JSON.stringify({ retained })}\n`);
      await captureAll(store, requestOf(SINGLE), [{ text: 'garbage' }]);
      const logs = async function* () {
        yield log;
      };
      const report = await store.collect({ logs, graceMs: -1 }, NO_ABORT);
      expect(report).toMatchObject({
        kind: 'collected',
        tallies: { removed: { count: 1, bytes: 7 }, referenced: { count: 3 }, recent: { count: 0 } },
      });
      expect((await readPages(store, hint.uri)).join('')).toBe(text);
    },
  );
});
