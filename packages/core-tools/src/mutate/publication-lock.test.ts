import { describe, expect, it } from '@jest/globals';
import { link, open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf } from '../target/identity.ts';
import { scratchFolder } from '../testing/calls.ts';
import { kernelMoves, type KernelMoves } from './kernel-moves.ts';
import { publishAlone } from './publication-lock.ts';

const describeLinux = process.platform === 'linux' ? describe : describe.skip;
const { signal } = new AbortController();

async function setup() {
  const folder = await scratchFolder();
  const [path, stage] = [join(folder.path, 'f'), join(folder.path, 'stage')];
  await writeFile(path, 'old');
  await writeFile(stage, 'new');
  const place = { path, stage, identity: identityOf(await stat(path, { bigint: true })) };
  const moves = (await kernelMoves()) as KernelMoves;
  return { place, moves, path, stage, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describeLinux('publishing alone', () => {
  it('waits for whoever publishes over the file, under any of its names [FS-9]', async () => {
    await using s = await setup();
    await link(s.path, `${s.path}-too`);
    const happened: string[] = [];
    const other = await open(`${s.path}-too`);
    expect(s.moves.lock(other.fd)).toBe('taken');
    let looks = 0;
    const moves: KernelMoves = {
      ...s.moves,
      lock: (fd) => {
        const outcome = s.moves.lock(fd);
        if (outcome === 'held' && ++looks === 3) {
          happened.push('released');
          void other.close();
        }
        return outcome;
      },
    };
    await publishAlone(s.place, { moves, signal }, async () => void happened.push('published'));
    expect(happened).toEqual(['released', 'published']);
  });

  it('lets nobody publish over what it puts in place before it is done [FS-9]', async () => {
    await using s = await setup();
    await publishAlone(s.place, { moves: s.moves, signal }, async () => {
      for (const name of [s.path, s.stage]) {
        await using handle = await open(name);
        expect(s.moves.lock(handle.fd)).toBe('held');
      }
    });
    for (const name of [s.path, s.stage]) {
      await using handle = await open(name);
      expect(s.moves.lock(handle.fd)).toBe('taken');
    }
  });

  it('is stale where another file stands, and stops waiting when the call is cancelled [FS-9]', async () => {
    await using s = await setup();
    const never = () => Promise.reject(new Error('it was published'));
    const elsewhere = { ...s.place, path: s.stage };
    await expect(publishAlone(elsewhere, { moves: s.moves, signal }, never)).rejects.toMatchObject({
      code: 'stale',
    });
    await using other = await open(s.path);
    s.moves.lock(other.fd);
    const cancelled = AbortSignal.abort();
    await expect(publishAlone(s.place, { moves: s.moves, signal: cancelled }, never)).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it.each([['no kernel moves'], ['a file system without locks']])('goes on with %s [FS-9]', async (what) => {
    await using s = await setup();
    const moves = what === 'no kernel moves' ? null : { ...s.moves, lock: () => 'unable' as const };
    expect(await publishAlone(s.place, { moves, signal }, async () => 'published')).toBe('published');
  });
});
