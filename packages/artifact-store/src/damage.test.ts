import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SINGLE, captureAll, openStore, readPages, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const TEXT = Array.from({ length: 500 }, (_, at) => `line ${at}\n`).join('');
const LARGE = TEXT.repeat(400);

/** Changes one bit and nothing that shows from outside. */
async function flipBit(path: string): Promise<void> {
  const { mtime } = await stat(path);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
  await utimes(path, mtime, mtime);
}

const damages: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
  ['has a flipped bit', flipBit],
  ['is cut off', (path) => truncate(path, 100)],
  ['is empty', (path) => truncate(path, 0)],
  ['is too long', (path) => writeFile(path, 'more\n', { flag: 'a' })],
  [
    'is a folder',
    async (path) => {
      await rm(path);
      await mkdir(path);
    },
  ],
  [
    'is a folder with something in it',
    async (path) => {
      await rename(path, `${path}.was`);
      await mkdir(path);
      await rename(`${path}.was`, join(path, 'blob'));
    },
  ],
  [
    'is a link, even to the right content',
    async (path) => {
      await rename(path, `${path}.was`);
      await symlink(`${path}.was`, path);
    },
  ],
  [
    'is a pipe that nobody writes to',
    async (path) => {
      await rm(path);
      expect(spawnSync('bash', ['-c', 'mkfifo "$0"', path]).status).toBe(0);
    },
  ],
];

describe.each([
  ['small', TEXT],
  ['large', LARGE],
])('a %s artifact', (_, text) => {
  it.each(damages)(
    'that %s is never served, spoils no other, and is whole again when it is produced again [ART-1] [ART-2]',
    async (_, damage) => {
      const parent = await newFolder();
      const first = await openStore(parent);
      await captureAll(first.store, requestOf(SINGLE), [{ text }]);
      await captureAll(first.store, requestOf(SINGLE), [{ text: 'another' }]);
      await damage(join(first.folder, sha256(text)));
      const { store } = await openStore(parent);
      await expect(readPages(store, `artifact://${sha256(text)}`)).rejects.toMatchObject({
        code: 'artifact_corrupt',
      });
      expect(await readPages(store, `artifact://${sha256('another')}`)).toEqual(['another']);
      const { retained } = await captureAll(store, requestOf(SINGLE), [{ text }]);
      expect(retained).not.toBeNull();
      expect((await readPages(store, `artifact://${sha256(text)}`)).join('')).toBe(text);
      // Also for a store that knew it as sound before.
      expect((await readPages(first.store, `artifact://${sha256(text)}`)).join('')).toBe(text);
    },
  );
});

describe('content that is stored again', () => {
  it('takes the place of a large blob that nobody has verified: reading it would cost more [ART-2]', async () => {
    const parent = await newFolder();
    const { store, folder } = await openStore(parent);
    const path = join(folder, sha256(LARGE));
    await captureAll(store, requestOf(SINGLE), [{ text: LARGE }]);
    const first = await stat(path);
    await captureAll(store, requestOf(SINGLE), [{ text: LARGE }]);
    const second = await stat(path);
    expect(second.ino).not.toBe(first.ino);
    await readPages(store, `artifact://${sha256(LARGE)}`);
    await captureAll(store, requestOf(SINGLE), [{ text: LARGE }]);
    const third = await stat(path);
    expect(third.ino).toBe(second.ino);
    expect(third.mtimeMs).toBeGreaterThanOrEqual(second.mtimeMs);
  });
});

describe('two stores with different settings on one folder', () => {
  it('store the same output once, and the hint of each is right [ART-17] [OUT-5] [OUT-15]', async () => {
    const parent = await newFolder();
    const stores = await Promise.all([openStore(parent), openStore(parent)]);
    const limits = [{ maxLines: 10 }, { maxBytes: 777, maxCaptureBytes: 1_000_000 }];
    const results = await Promise.all(
      stores.map(({ store }, at) => captureAll(store, requestOf(SINGLE, limits[at]), [{ text: TEXT }])),
    );
    const offsets = results.map(({ retained }) => retained!.streams[0]!.next_offset!);
    expect(new Set(offsets).size).toBe(2);
    for (const [at, { text, retained }] of results.entries()) {
      expect(retained?.reference.uri).toBe(`artifact://sha256/${sha256(TEXT)}`);
      const head = text
        .split('\n')
        .slice(0, offsets[at])
        .map((line) => `${line}\n`);
      const rest = await readPages(stores[1 - at]!.store, `artifact://${sha256(TEXT)}`, {
        offset: offsets[at]!,
      });
      expect(head.join('') + rest.join('')).toBe(TEXT);
    }
  });
});
