import { link, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomIds, systemClock } from '@agentd/contract';
import { ArtifactStore } from './artifact-store.ts';
import { bytesSource, type BlobBackend } from './blob-backend.ts';
import { fileLocks, type SharedFileLocks } from './file-locks.ts';
import { memoryBackend } from './memory-backend.ts';
import { makePipe } from './test/make-pipe.ts';
import { BASH, NO_ABORT, SINGLE, captureAll, readPages, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();

interface Surroundings {
  readonly backend?: BlobBackend;
  readonly locks?: SharedFileLocks;
}

async function newStore({ backend, locks = fileLocks }: Surroundings = {}) {
  const folder = await newFolder();
  const ports = { folder, locks, clock: systemClock, ids: randomIds };
  return { folder, store: new ArtifactStore(backend === undefined ? ports : { ...ports, backend }) };
}

/** A backend on which others store every blob again whenever it was looked at or read, and the blobs it replaced. */
function busyBackend() {
  const backend = memoryBackend();
  const replaced: string[] = [];
  const busy: BlobBackend = {
    ...backend,
    stat: async (digest) => {
      const stat = await backend.stat(digest);
      await backend.refresh(digest);
      return stat;
    },
    replace: async (digest, source) => {
      replaced.push(digest);
      await backend.replace(digest, source);
    },
  };
  return { busy, replaced };
}

describe('output that others store again at every moment', () => {
  it('can be read all the same [ART-2] [ART-10]', async () => {
    const { store } = await newStore({ backend: busyBackend().busy });
    await captureAll(store, requestOf(SINGLE), [{ text: 'same\n' }]);
    expect(await readPages(store, `artifact://${sha256('same\n')}`)).toEqual(['same\n']);
    const past = { address: { digest: sha256('same\n'), stream: null }, offset: 7, limit: 1 };
    await expect(store.page(past, NO_ABORT)).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('is not taken for damaged by who stores it once more [ART-1] [ART-10]', async () => {
    const { busy, replaced } = busyBackend();
    const { store } = await newStore({ backend: busy });
    for (let times = 0; times < 3; times += 1) {
      await captureAll(store, requestOf(SINGLE), [{ text: 'same\n' }]);
    }
    expect(replaced).toEqual([]);
  });
});

describe('damaged output that is mended while somebody reads it', () => {
  const TEXT = 'right\n';
  const uri = `artifact://${sha256(TEXT)}`;

  /** A store of one damaged blob, whose first reading waits in the middle. */
  async function damagedStore() {
    const backend = memoryBackend();
    await backend.put(sha256(TEXT), bytesSource(Buffer.from('wrong\n')));
    const reading = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const chunks: string[] = [];
    const slow: BlobBackend = {
      ...backend,
      get: async function* (digest, range) {
        for await (const chunk of backend.get(digest, range)) {
          reading.resolve();
          if (chunks.length === 0) await goOn.promise;
          for (const byte of Buffer.from(chunk).toString()) {
            chunks.push(byte);
            yield Buffer.from(byte);
          }
        }
      },
    };
    const { store } = await newStore({ backend: slow });
    return { store, backend, reading: reading.promise, goOn: goOn.resolve, chunks };
  }

  it('is read anew, by who waited for it too [ART-2]', async () => {
    const { store, backend, reading, goOn } = await damagedStore();
    const pages = readPages(store, uri);
    await reading;
    await backend.replace(sha256(TEXT), bytesSource(Buffer.from(TEXT)));
    goOn();
    expect(await pages).toEqual([TEXT]);
  });

  it('does not make others wait for a reading that nobody wants any more, which stops [ART-2] [ART-4]', async () => {
    const { store, reading, goOn, chunks } = await damagedStore();
    const stop = new AbortController();
    const page = store.page({ address: store.parse(uri), offset: 0, limit: 1 }, stop.signal);
    await reading;
    stop.abort();
    await expect(page).rejects.toThrow(/abort/);
    chunks.push('others do not wait');
    await captureAll(store, requestOf(SINGLE), [{ text: TEXT }]);
    expect(await readPages(store, uri)).toEqual([TEXT]);
    const before = chunks.length;
    goOn();
    await setImmediate();
    expect(chunks.slice(before)).toEqual(['w']);
  });
});

it('a leftover that somebody else recovers meanwhile is theirs: null, and no empty output [ART-11] [OUT-16]', async () => {
  const folders: string[] = [];
  const { store, folder } = await newStore({
    locks: {
      ...fileLocks,
      tryExclusive: async (path, note) => {
        const names = (await readdir(folders[0] ?? '')).filter((name) => name.startsWith('.capture-'));
        await Promise.all(names.map((name) => rm(join(folders[0] ?? '', name))));
        return fileLocks.tryExclusive(path, note);
      },
    },
  });
  folders.push(folder);
  const request = requestOf(BASH);
  await writeFile(join(folder, `.capture-${request.callId}-0-stdout.tmp`), 'before the crash\n');
  expect(await store.recover(request)).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

describe('the cache of the janitor', () => {
  async function collected(damage: (path: string, blob: string) => Promise<unknown>) {
    const { store, folder } = await newStore();
    const sessions = await newFolder();
    await captureAll(store, requestOf(SINGLE), [{ text: 'kept\n' }]);
    const log = join(sessions, 'events.jsonl');
    await writeFile(log, `{"uri":"artifact://sha256/${sha256('kept\n')}"}\n`);
    await damage(join(folder, '.references.cache.tmp'), join(folder, sha256('kept\n')));
    const logs = async function* () {
      yield log;
    };
    const { kind } = await store.collect({ logs, graceMs: 0 }, NO_ABORT);
    return { kind, content: await readFile(join(folder, sha256('kept\n')), 'utf8') };
  }

  it.each([
    ['a pipe', makePipe],
    ['a second name of a blob', (path: string, blob: string) => link(blob, path)],
    ['a folder', (path: string) => mkdir(path)],
  ])('neither waits for nor writes to %s where it is to be written [ART-9] [ART-14]', async (_, damage) => {
    expect(await collected(damage)).toEqual({ kind: 'collected', content: 'kept\n' });
  });
});
