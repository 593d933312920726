import { readdir, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CaptureResult } from '@agentd/contract';
import { deferred, flush, type Deferred } from '@agentd/contract/testing';
import { TemporaryFile } from './temporary-file.ts';
import {
  canMount,
  runProgram,
  runProgramOnSmallDisk,
  runProgramWithFileLimit,
  runProgramWithHandleLimit,
} from './test/processes.ts';
import { BASH, SINGLE, captureAll, hintOf, openStore, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();

describe('a storage fault', () => {
  it('stops the storing and not the tool, offers no URI, and is over with the next call [OUT-13] [OUT-16] [field E7]', async () => {
    const folder = join(await newFolder(), 'artifacts');
    const program = runProgramWithFileLimit(1024, 'capture-under-limit', [folder]);
    const { during, after, read } = JSON.parse(await program.nextLine()) as {
      during: CaptureResult;
      after: CaptureResult;
      read: string[];
    };
    expect(await program.exit).toBe(0);
    expect(during.retained).toBeNull();
    expect(during.text.startsWith(`[stdout]\n${'x'.repeat(99)}\n`)).toBe(true);
    expect(during.text).toContain('lines omitted]');
    expect(
      during.text.endsWith('\n\n[stderr]\nthe error\n[full output not stored: EFBIG: file too large]'),
    ).toBe(true);
    expect(during.text).not.toContain('artifact://');
    expect(read).toEqual(['before\n']);
    expect(after.text).toBe('[stdout]\nafter\n\n[stderr]');
    expect(after.retained).not.toBeNull();
    // Nothing half-written is left: the streams and manifests of the two good calls, whose stderr is one blob.
    expect((await readdir(folder)).filter((name) => name !== '.publication.lock')).toHaveLength(5);
  });

  const whereDisksCanBeMounted = canMount ? it : it.skip;
  whereDisksCanBeMounted(
    'of a full disk keeps every outcome, and storing goes on when there is room (skipped where nothing can be mounted) [OUT-13] [field E7]',
    async () => {
      const program = runProgramOnSmallDisk(1024, 'capture-on-small-disk', await newFolder());
      const { during, filled, whileFull, read, collected, after, left } = JSON.parse(
        await program.nextLine(),
      );
      expect(await program.exit).toBe(0);
      const noRoom = '[full output not stored: ENOSPC: no space left on device]';
      expect(during.text).toMatch(/^\[stdout\]\n1\n2\n[^]*\n1000000\n\n\[stderr\]\n/);
      expect(during.text.endsWith(noRoom)).toBe(true);
      expect(filled).toBe('ENOSPC');
      expect(whileFull).toMatchObject({
        text: `[stdout]\n/dev/full 100%\n\n[stderr]\n${noRoom}`,
        retained: null,
      });
      expect(read).toEqual(['before\n']);
      expect(collected).toMatchObject({ kind: 'collected', tallies: { recent: { count: 3 } } });
      expect(after.retained.streams).toMatchObject([{ sha256: sha256('after\n') }, { byte_length: 0 }]);
      // The streams and manifests of two good calls, whose stderr is one blob; no part of any other.
      expect(
        left.filter((name: string) => !/^\.(publication\.lock|references\.cache)$/.test(name)),
      ).toHaveLength(5);
    },
  );

  it('of a folder that is read-only is told, what is stored can be read, and it is over with the fault [OUT-13]', async () => {
    const program = runProgram('capture-read-only', [join(await newFolder(), 'artifacts')]);
    const { during, read, after } = JSON.parse(await program.nextLine());
    expect(await program.exit).toBe(0);
    expect(during).toMatchObject({
      text: '[stdout]\nduring\n\n[stderr]\n[full output not stored: EACCES: permission denied]',
      retained: null,
    });
    expect(read).toEqual(['before\n']);
    expect(after.retained.streams).toMatchObject([{ sha256: sha256('after\n') }, { byte_length: 0 }]);
  });

  it('of a process without file handles is told, calls no artifact corrupt, and is over with the fault [OUT-13] [ART-2]', async () => {
    const folder = join(await newFolder(), 'artifacts');
    const program = runProgramWithHandleLimit(48, 'capture-without-handles', [folder]);
    const { fault, begun, during, page, after, read, left } = JSON.parse(await program.nextLine());
    expect(await program.exit).toBe(0);
    const noHandles = '[full output not stored: EMFILE: too many open files]';
    expect(fault).toBe('EMFILE');
    expect(begun).toMatchObject({ text: `[stdout]\nbegun\n\n[stderr]\n${noHandles}`, retained: null });
    expect(during).toMatchObject({ text: `[stdout]\nduring\n\n[stderr]\n${noHandles}`, retained: null });
    expect(page).toEqual(['resource_limit', expect.stringContaining('(EMFILE): try again later')]);
    expect(after.retained.streams).toMatchObject([{ sha256: sha256('after\n') }, { byte_length: 0 }]);
    expect(read).toEqual(['before\n']);
    expect(left).toEqual([]);
  });

  it('of a folder that cannot be is told by each result [OUT-13]', async () => {
    const parent = await newFolder();
    await writeFile(join(parent, 'artifacts'), 'in the way');
    const { store } = await openStore(parent);
    const { text, retained } = await captureAll(store, requestOf(SINGLE, { maxLines: 1 }), [
      { text: 'a\nb\n' },
    ]);
    expect(retained).toBeNull();
    expect(text).toMatch(/^a\n\[… 1 lines omitted\]\n\[full output not stored: E[A-Z]+: [a-z ]+\]$/);
    expect(hintOf(text)).toBeNull();
  });

  it('at publication keeps the preview and says why [OUT-13]', async () => {
    const { store, folder } = await openStore(await newFolder());
    const capture = await store.capture(requestOf(BASH));
    await capture.accept([{ stream: 'stdout', text: 'shown\n' }]);
    await rm(folder, { recursive: true });
    const { text, retained, release } = await capture.finish({ incomplete: false });
    await release();
    expect(text).toBe(
      '[stdout]\nshown\n\n[stderr]\n[full output not stored: ENOENT: no such file or directory]',
    );
    expect(retained).toBeNull();
    const next = await captureAll(store, requestOf(SINGLE), [{ text: 'again' }]);
    expect(next.retained?.streams).toMatchObject([{ sha256: sha256('again') }]);
  });
});

describe('a slow disk', () => {
  /** A file whose writes the test completes by hand. */
  function slowFile(): {
    readonly file: TemporaryFile;
    readonly writes: Deferred<void>[];
    readonly lengths: number[];
  } {
    const writes: Deferred<void>[] = [];
    const lengths: number[] = [];
    const write = async (_bytes: Uint8Array, ...[, length]: number[]): Promise<{ bytesWritten: number }> => {
      lengths.push(length ?? 0);
      writes.push(deferred());
      await writes.at(-1)?.promise;
      return { bytesWritten: length ?? 0 };
    };
    const handle = { write } as unknown as FileHandle;
    return {
      file: new TemporaryFile(handle, { path: '/nowhere', release: async () => {} }),
      writes,
      lengths,
    };
  }

  it('makes the writer wait at 512 KiB in the queue and not before [OUT-12]', async () => {
    const { file, writes } = slowFile();
    const block = Buffer.alloc(128 * 1024);
    for (let count = 0; count < 4; count += 1) file.write(block); // The first is under way at once.
    expect(file.isFull).toBe(false);
    file.write(block);
    expect(file.isFull).toBe(true);
    let hasRoom = false;
    const waiting = file.room().then(() => (hasRoom = true));
    await flush();
    expect(hasRoom).toBe(false);
    writes[0]?.resolve();
    await waiting;
    expect(file.isFull).toBe(false);
    expect(writes).toHaveLength(2);
  });

  it('gets what was queued meanwhile in one large write [OUT-12]', async () => {
    const { file, writes, lengths } = slowFile();
    for (let count = 0; count < 10; count += 1) file.write(Buffer.alloc(1000));
    expect(lengths).toEqual([1000]);
    writes[0]?.resolve();
    await flush();
    expect(lengths).toEqual([1000, 9000]);
  });
});

it('captures a giant line in bounded memory [OUT-12] [BASH-9]', async () => {
  const folder = join(await newFolder(), 'artifacts');
  const program = runProgram('capture-giant', [folder, '192']);
  const { grownKib, byteLength } = JSON.parse(await program.nextLine()) as {
    grownKib: number;
    byteLength: number;
  };
  expect(byteLength).toBe(192 * 1024 * 1024 + 64 * 1024);
  expect(grownKib).toBeLessThan(64 * 1024);
});
