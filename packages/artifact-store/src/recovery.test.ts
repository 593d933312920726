import { link, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_OUTPUT_LIMITS, randomIds, systemClock } from '@agentd/contract';
import type { CaptureRequest } from '@agentd/contract';
import { manualClock } from '@agentd/contract/testing';
import { ArtifactStore } from './artifact-store.ts';
import { fileLocks } from './file-locks.ts';
import { loopLine } from './test/loop-text.ts';
import { runProgram } from './test/processes.ts';
import { BASH, SINGLE, captureAll, openStore, readPages, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const newStore = async () => openStore(await newFolder());
const HOUR_MS = 60 * 60 * 1000;

const temporaryNames = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.tmp')).toSorted();

/** Waits for a condition on the disk that another process brings about. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(5);
}

const capturePath = (folder: string, { callId }: CaptureRequest): string =>
  join(folder, `.capture-${callId}-0-stdout.tmp`);

describe('recover', () => {
  it('is null where the call left nothing, also where there is no store [ART-11]', async () => {
    const { store } = await newStore();
    expect(await store.recover(requestOf(BASH))).toBeNull();
    const folder = join(await newFolder(), 'never', 'made');
    const none = new ArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
    expect(await none.recover(requestOf(BASH))).toBeNull();
  });

  it('is null while the writer lives; publishes all streams as incomplete once it was killed [OUT-16] [ART-11]', async () => {
    const { store, folder } = await newStore();
    const request = requestOf(BASH);
    const writer = runProgram('capture-and-wait', [folder, request.callId]);
    expect(await writer.nextLine()).toBe('waiting');
    await until(async () => (await stat(capturePath(folder, request))).size > 0);
    expect(await store.recover(request)).toBeNull();
    await writer.kill();
    const recovered = await store.recover(request);
    expect(recovered?.text).toBe('[stdout]\nbefore the crash\n\n[stderr]');
    expect(recovered?.retained).toMatchObject({
      incomplete: true,
      missing_bytes: 0,
      streams: [
        { name: 'stdout', sha256: sha256('before the \x1b[31mcrash\n'), line_count: 1 },
        { byte_length: 0 },
      ],
    });
    await recovered?.release();
    expect(await temporaryNames(folder)).toEqual([]);
    expect(await store.recover(request)).toBeNull();
  });

  it('finds all streams when the process died between publication and the event that refers to it [ART-10]', async () => {
    const { store, folder } = await newStore();
    const request = requestOf(BASH);
    const writer = runProgram('capture-and-wait', [folder, request.callId, 'finish']);
    const published = await writer.nextLine();
    await writer.kill();
    const recovered = await store.recover(request);
    expect(recovered?.retained?.reference.uri).toBe(published);
    await recovered?.release();
    expect(await temporaryNames(folder)).toEqual([]);
  });

  it('cuts off a character that the crash tore, and takes a missing stream for an empty one [OUT-14]', async () => {
    const { store, folder } = await newStore();
    const request = requestOf(BASH);
    await writeFile(
      capturePath(folder, request),
      Buffer.concat([Buffer.from('x€'), Buffer.from('€').subarray(0, 2)]),
    );
    const recovered = await store.recover(request);
    expect(recovered?.retained?.streams).toMatchObject([
      { sha256: sha256('x€'), byte_length: 4 },
      { sha256: sha256(''), byte_length: 0 },
    ]);
    expect(await readFile(join(folder, sha256('x€')), 'utf8')).toBe('x€');
    await recovered?.release();
  });

  it('is null for a call whose files a process was removing when it was killed [OUT-16]', async () => {
    const { store, folder } = await newStore();
    const request = requestOf(BASH);
    await writeFile(join(folder, `.capture-${request.callId}-1-stderr.tmp`), 'half of it\n');
    expect(await store.recover(request)).toBeNull();
    expect(await temporaryNames(folder)).toEqual([]);
  });

  it('previews what it recovers as if it had arrived as text [OUT-6] [BASH-8]', async () => {
    const { store, folder } = await newStore();
    const request = requestOf(BASH, { maxLines: 4 });
    const text = Array.from({ length: 60_000 }, (_, at) => `\x1b[1m${at}€\x1b[0m\n`).join('');
    await writeFile(capturePath(folder, request), text);
    const recovered = await store.recover(request);
    const direct = await captureAll(store, requestOf(BASH, { maxLines: 4 }), [{ stream: 'stdout', text }]);
    expect(recovered?.text).toBe(direct.text);
    expect(recovered?.retained?.streams).toEqual(direct.retained?.streams);
    await recovered?.release();
  });
});

describe('the start-up sweep', () => {
  /** A store whose clock stands two hours from now: what is made now is old for it. */
  async function laterStore() {
    const { store, folder } = await newStore();
    await store.close();
    const clock = manualClock(Date.now() + 2 * HOUR_MS);
    return {
      folder,
      later: new ArtifactStore({ folder, locks: fileLocks, clock, ids: randomIds }),
      now: store,
    };
  }

  it('removes temporary files of an hour ago that nobody holds, and nothing else [ART-11]', async () => {
    const { folder, later, now } = await laterStore();
    const capture = `.capture-${randomIds.uuid()}-0.tmp`;
    const manifest = `.${sha256('x')}.${randomIds.uuid()}.tmp`;
    const kept = ['.capture-note.txt', '.other.tmp', 'notes.tmp', sha256('blob'), '.publication.lock'];
    for (const name of [capture, manifest, ...kept]) await writeFile(join(folder, name), 'x');
    await symlink(join(folder, sha256('blob')), join(folder, `.capture-${randomIds.uuid()}-1.tmp`));
    expect(await now.sweep()).toBe(0);
    expect(await later.sweep()).toBe(2);
    const left = await readdir(folder);
    expect(left).toEqual(expect.arrayContaining(kept));
    expect(left).not.toContain(capture);
    expect(left).not.toContain(manifest);
  });

  it('spares files up to an hour old, to the millisecond [ART-11]', async () => {
    const { folder } = await newStore();
    const path = join(folder, `.capture-${randomIds.uuid()}-0.tmp`);
    await writeFile(path, 'x');
    const written = new Date(2026, 0, 1);
    await utimes(path, written, written);
    const clock = manualClock(written.getTime() + HOUR_MS);
    const store = new ArtifactStore({ folder, locks: fileLocks, clock, ids: randomIds });
    expect(await store.sweep()).toBe(0);
    clock.advance(1);
    expect(await store.sweep()).toBe(1);
  });

  it('keeps a stream that was silent for its last hour with the rest of its call [ART-11] [OUT-16]', async () => {
    const { folder, later } = await laterStore();
    const request = requestOf(BASH);
    const stderr = join(folder, `.capture-${request.callId}-1-stderr.tmp`);
    await writeFile(capturePath(folder, request), 'said just before the crash\n');
    await writeFile(stderr, 'said long before\n');
    const now = Date.now() / 1000 + (2 * HOUR_MS) / 1000;
    await utimes(capturePath(folder, request), now, now);
    expect(await later.sweep()).toBe(0);
    const recovered = await later.recover(request);
    expect(recovered?.text).toBe('[stdout]\nsaid just before the crash\n\n[stderr]\nsaid long before\n');
    await recovered?.release();
  });

  it('leaves a call whole to who recovers it at the same time, or removes it whole [ART-11]', async () => {
    const { folder, later, now } = await laterStore();
    for (let round = 0; round < 30; round += 1) {
      const request = requestOf(BASH);
      await writeFile(capturePath(folder, request), 'out');
      await writeFile(join(folder, `.capture-${request.callId}-1-stderr.tmp`), 'err');
      const [recovered] = await Promise.all([now.recover(request), later.sweep()]);
      expect(recovered?.text ?? 'removed').toMatch(/^(?:removed|\[stdout\]\nout\n\n\[stderr\]\nerr)$/);
      await recovered?.release();
      expect(await temporaryNames(folder)).toEqual([]);
    }
  });

  it('does not take a silent capture of a living process for abandoned [ART-11]', async () => {
    const { folder, later } = await laterStore();
    const writer = runProgram('capture-and-wait', [folder, randomIds.uuid()]);
    expect(await writer.nextLine()).toBe('waiting');
    expect(await later.sweep()).toBe(0);
    expect(await temporaryNames(folder)).toHaveLength(2);
    await writer.kill();
    expect(await later.sweep()).toBe(2);
    expect(await temporaryNames(folder)).toEqual([]);
  });

  it('runs when a store is opened, and a store without a folder opens too [ART-11] [ART-2]', async () => {
    const { folder } = await laterStore();
    const path = join(folder, `.capture-${randomIds.uuid()}-0.tmp`);
    await writeFile(path, 'x');
    await utimes(path, 1, 1);
    const { store } = await openStore(join(folder, '..'));
    await store.close();
    expect(await temporaryNames(folder)).toEqual([]);
    expect(
      await new ArtifactStore({
        folder: join(folder, 'none'),
        locks: fileLocks,
        clock: systemClock,
        ids: randomIds,
      }).sweep(),
    ).toBe(0);
  });
});

describe('the publication guard', () => {
  const guardOf = (folder: string): string => join(folder, '.publication.lock');

  it('is held from publication to release, and several hold it together [ART-10]', async () => {
    const { store, folder } = await newStore();
    const captures = await Promise.all([store.capture(requestOf(SINGLE)), store.capture(requestOf(SINGLE))]);
    const free = await fileLocks.tryExclusive(guardOf(folder));
    expect(free).not.toBeNull();
    await free?.release();
    const results = await Promise.all(captures.map((capture) => capture.finish({ incomplete: false })));
    for (const { release } of results) {
      expect(await fileLocks.tryExclusive(guardOf(folder))).toBeNull();
      await release();
    }
    const again = await fileLocks.tryExclusive(guardOf(folder));
    expect(again).not.toBeNull();
    await again?.release();
  });

  it('makes a publication wait while a janitor holds the store [ART-10]', async () => {
    const { store, folder } = await newStore();
    const janitor = await fileLocks.tryExclusive(guardOf(folder));
    const capture = await store.capture(requestOf(SINGLE));
    await capture.accept([{ text: 'x' }]);
    const finished = capture.finish({ incomplete: false });
    await delay(50);
    expect(await readdir(folder)).not.toContain(sha256('x'));
    await janitor?.release();
    const { retained, release } = await finished;
    expect(retained?.streams).toMatchObject([{ sha256: sha256('x') }]);
    await release();
  });

  it('gives up on a janitor that never ends, with a reason, and lets the call go on [ART-10] [OUT-13]', async () => {
    const { folder } = await newStore();
    const clock = manualClock();
    const store = new ArtifactStore({ folder, locks: fileLocks, clock, ids: randomIds });
    const janitor = await fileLocks.tryExclusive(guardOf(folder));
    const capture = await store.capture(requestOf(SINGLE));
    const finished = capture.finish({ incomplete: false });
    const progress = { done: false };
    void finished.finally(() => (progress.done = true));
    while (!progress.done) {
      clock.advance(1000);
      await delay(0);
    }
    expect(await finished).toMatchObject({
      text: '[full output not stored: the artifact store is being cleaned up]',
      retained: null,
    });
    await janitor?.release();
  });
});

describe('publishers of several processes', () => {
  it('coexist: every content is there once, whole, whoever published it [ART-1] [ART-10]', async () => {
    const content = fc.array(
      fc.tuple(fc.constantFrom('a', 'b', 'c\n', '€'), fc.integer({ min: 1, max: 40_000 })),
      {
        minLength: 8,
        maxLength: 24,
      },
    );
    await fc.assert(
      fc.asyncProperty(content, content, async (first, second) => {
        const { store, folder } = await newStore();
        const programs = [first, second].map((list) =>
          runProgram('publish-list', [folder, JSON.stringify(list)]),
        );
        // This process publishes too, and the same as the first.
        const mine = await Promise.all(
          first.map(([unit, count]) => captureAll(store, requestOf(SINGLE), [{ text: unit.repeat(count) }])),
        );
        const exits = await Promise.all(programs.map(({ exit }) => exit));
        expect(exits).toEqual([0, 0]);
        expect(mine.every(({ retained }) => retained !== null)).toBe(true);
        const texts = [...first, ...second].map(([unit, count]) => unit.repeat(count));
        const digests = new Set(texts.map(sha256));
        expect(new Set(await readdir(folder))).toEqual(new Set([...digests, '.publication.lock']));
        for (const digest of digests) expect(sha256(await readFile(join(folder, digest)))).toBe(digest);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});

describe('kill -9 of a process that captures and publishes', () => {
  /** Which lines of which call and stream a text is made of, or what is wrong with it. */
  function checkLoopText(text: string): void {
    if (text === '' || text.startsWith('{"kind":"output_manifest"')) return;
    const [callId = '', stream = ''] = text.split(' ');
    const lines = text.split(/(?<=\n)/);
    expect(text).toBe(lines.map((line, at) => loopLine(callId, stream, at).slice(0, line.length)).join(''));
  }

  async function checkBlobs(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (!/^[0-9a-f]{64}$/.test(name)) continue;
      const content = await readFile(join(folder, name));
      expect(sha256(content)).toBe(name);
      checkLoopText(content.toString());
    }
  }

  async function recoverAll(store: ArtifactStore, folder: string): Promise<void> {
    const names = await temporaryNames(folder);
    const ids = names.flatMap((name) => /^\.capture-([0-9a-f-]{36})-\d/.exec(name)?.[1] ?? []);
    for (const callId of new Set(ids)) {
      const recovered = await store.recover({ callId, declaration: BASH, limits: DEFAULT_OUTPUT_LIMITS });
      // Without its first stream a call was being removed, after its output had been told.
      if (!names.includes(`.capture-${callId}-0-stdout.tmp`)) expect(recovered).toBeNull();
      else expect(recovered?.retained).toMatchObject({ incomplete: true });
      await recovered?.release();
    }
  }

  it('leaves no half-written blob at 20 random moments, and leftovers that can be recovered [ART-1] [ART-2] [ART-11]', async () => {
    const { store, folder } = await newStore();
    const published: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const programs = Array.from({ length: 4 }, () => runProgram('publish-loop', [folder]));
      const killed = programs.map(async (program) => {
        expect(await program.nextLine()).toBe('ready');
        published.push(await program.nextLine());
        await delay(Math.random() * 60);
        await program.kill();
      });
      await Promise.all(killed);
      await checkBlobs(folder);
      await recoverAll(store, folder);
    }
    await checkBlobs(folder);
    for (const uri of published)
      expect((await readPages(store, `${uri}/stderr`)).join('')).toContain(' stderr 0 ');
    expect((await temporaryNames(folder)).filter((name) => name.startsWith('.capture-'))).toEqual([]);
  });
});

it('a leftover that is a second name of a published blob can be recovered without harm to the blob [ART-1] [OUT-14]', async () => {
  const { store, folder } = await newStore();
  const request = requestOf(BASH);
  await captureAll(store, requestOf(SINGLE), [{ text: 'shared\n' }]);
  await link(join(folder, sha256('shared\n')), capturePath(folder, request));
  const recovered = await store.recover(request);
  await recovered?.release();
  expect(await readFile(join(folder, sha256('shared\n')), 'utf8')).toBe('shared\n');
});
