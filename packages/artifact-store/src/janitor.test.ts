import {
  appendFile,
  chmod,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { randomIds } from '@agentd/contract';
import { manualClock } from '@agentd/contract/testing';
import { ArtifactStore } from './artifact-store.ts';
import type { CollectionReport, CollectionRequest } from './collection.ts';
import { fileLocks } from './file-locks.ts';
import { logFilesUnder } from './log-files.ts';
import {
  BASH,
  NO_ABORT,
  SINGLE,
  captureAll,
  openStore,
  readPages,
  requestOf,
  sha256,
} from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const HOUR_MS = 60 * 60 * 1000;

/** A store with its sessions, and the same store two hours from now: what is made now is old for it. */
async function newProject() {
  const parent = await newFolder();
  const { store, folder } = await openStore(parent);
  const clock = manualClock(Date.now() + 2 * HOUR_MS);
  const later = new ArtifactStore({ folder, locks: fileLocks, clock, ids: randomIds });
  const sessions = join(parent, 'sessions');
  const logs = () => logFilesUnder(sessions, 'events.jsonl');
  const collect = (request: Partial<CollectionRequest> = {}): Promise<CollectionReport> =>
    later.collect({ logs, list: true, ...request }, NO_ABORT);
  const log = async (session: string, ...lines: readonly string[]): Promise<string> => {
    const path = join(sessions, session, 'events.jsonl');
    await mkdir(dirname(path), { recursive: true });
    await appendFile(path, lines.map((line) => `${line}\n`).join(''));
    return path;
  };
  return { store, later, folder, sessions, clock, logs, collect, log };
}

type Project = Awaited<ReturnType<typeof newProject>>;

async function stored({ store }: Project, text: string): Promise<string> {
  await captureAll(store, requestOf(SINGLE), [{ text }]);
  return sha256(text);
}

const reference = (digest: string): string => `artifact://sha256/${digest}`;
const eventWith = (digest: string): string =>
  JSON.stringify({ type: 'x', data: { deep: [{ uri: reference(digest) }] } });

function fatesOf(report: CollectionReport): Readonly<Record<string, string>> {
  if (report.kind !== 'collected') throw new Error(`${report.kind}: ${report.reason}`);
  return Object.fromEntries((report.blobs ?? []).map(({ digest, fate }) => [digest, fate]));
}

describe('the janitor', () => {
  it('removes what no log refers to and keeps what one does, and says so with sizes [ART-9] [field E1]', async () => {
    const project = await newProject();
    const [dead, live] = [await stored(project, 'dead output'), await stored(project, 'live')];
    await project.log('root/subagents/child', '{"type":"session"}', eventWith(live));
    expect(await project.collect()).toEqual({
      kind: 'collected',
      dryRun: false,
      tallies: {
        removed: { count: 1, bytes: 11 },
        referenced: { count: 1, bytes: 4 },
        recent: { count: 0, bytes: 0 },
        undeletable: { count: 0, bytes: 0 },
      },
      blobs: expect.arrayContaining([
        { digest: dead, byteLength: 11, fate: 'removed' },
        { digest: live, byteLength: 4, fate: 'referenced' },
      ]) as unknown,
    });
    expect(await readPages(project.store, `artifact://${live}`)).toEqual(['live']);
    await expect(readPages(project.store, `artifact://${dead}`)).rejects.toMatchObject({
      code: 'artifact_missing',
    });
  });

  it('follows a manifest to its streams, from the manifest alone [ART-9]', async () => {
    const project = await newProject();
    const { retained } = await captureAll(project.store, requestOf(BASH), [
      { stream: 'stdout', text: 'out' },
    ]);
    const manifest = retained!.reference.uri.slice(-64);
    await project.log('root', eventWith(manifest));
    expect(fatesOf(await project.collect())).toEqual({
      [manifest]: 'referenced',
      [sha256('out')]: 'referenced',
      [sha256('')]: 'referenced',
    });
  });

  it('follows references in JSON of up to 2 MiB, through any number of blobs, and not in larger ones or in text [ART-13] [ART-9]', async () => {
    const project = await newProject();
    const full = await stored(project, 'the full original');
    const inner = await stored(
      project,
      JSON.stringify({ output: 'preview', metadata: { reference: { uri: reference(full) } } }),
    );
    const outer = await stored(project, JSON.stringify([reference(inner)]));
    const [a, b] = [await stored(project, 'of a large one'), await stored(project, 'of a text')];
    const large = await stored(
      project,
      JSON.stringify({ a: reference(a), pad: 'x'.repeat(2 * 1024 * 1024) }),
    );
    const text = await stored(project, `see "${reference(b)}"`);
    await project.log('root', eventWith(outer), eventWith(large), eventWith(text));
    expect(fatesOf(await project.collect())).toEqual({
      ...Object.fromEntries([full, inner, outer, large, text].map((digest) => [digest, 'referenced'])),
      [a]: 'removed',
      [b]: 'removed',
    });
  });

  it('skips torn and malformed lines, and goes on after them [ART-9]', async () => {
    const project = await newProject();
    const digests = await Promise.all(
      ['torn', 'malformed', 'public', 'part', 'good'].map((text) => stored(project, text)),
    );
    const [torn = '', malformed = '', open = '', part = '', good = ''] = digests;
    const path = await project.log(
      'root',
      `{"uri":"${reference(torn)}"`,
      `${eventWith(malformed)},`,
      '\0\0\0\0',
      JSON.stringify({ hint: `artifact://${open}` }),
      JSON.stringify({ text: `see ${reference(part)} and "${reference(part)}"` }),
      eventWith(good),
    );
    await appendFile(path, `{"uri":"${reference(torn)}`);
    expect(fatesOf(await project.collect())).toEqual({
      [torn]: 'removed',
      [malformed]: 'removed',
      [open]: 'removed',
      [part]: 'removed',
      [good]: 'referenced',
    });
  });

  it('finds a reference however JSON spells it, as key or value, at any depth [ART-9]', async () => {
    const project = await newProject();
    const names = ['slashes', 'letters', 'key', 'deep', 'no line end'];
    const [slashes = '', letters = '', key = '', deep = '', last = ''] = await Promise.all(
      names.map((name) => stored(project, name)),
    );
    const depth = 200_000;
    const path = await project.log(
      'root',
      `{"a":"${reference(slashes).replaceAll('/', String.raw`\/`)}"}`,
      String.raw`["\u0061rtifact://sha256/${letters}"]`,
      JSON.stringify({ [reference(key)]: 1 }),
      `${'['.repeat(depth)}"\\u0041","${reference(deep)}"${']'.repeat(depth)}`,
    );
    await appendFile(path, eventWith(last));
    expect(new Set(Object.values(fatesOf(await project.collect())))).toEqual(new Set(['referenced']));
  });

  it('spares what nothing refers to for an hour after it was stored or refreshed, to the millisecond [ART-9] [ART-10]', async () => {
    const project = await newProject();
    const digest = await stored(project, 'young');
    const path = join(project.folder, digest);
    await utimes(path, new Date(project.clock.now() - HOUR_MS), new Date(project.clock.now() - HOUR_MS));
    expect(fatesOf(await project.collect())).toEqual({ [digest]: 'recent' });
    project.clock.advance(1);
    await captureAll(project.later, requestOf(SINGLE), [{ text: 'young' }]);
    project.clock.advance(HOUR_MS);
    expect(fatesOf(await project.collect())).toEqual({ [digest]: 'recent' });
    project.clock.advance(1);
    expect(fatesOf(await project.collect())).toEqual({ [digest]: 'removed' });
  });

  it('keeps everything young when the clock was set back [ART-9]', async () => {
    const project = await newProject();
    const digest = await stored(project, 'from the future');
    const clock = manualClock(Date.UTC(2001, 0, 1));
    const past = new ArtifactStore({ folder: project.folder, locks: fileLocks, clock, ids: randomIds });
    expect(fatesOf(await past.collect({ logs: project.logs, list: true }, NO_ABORT))).toEqual({
      [digest]: 'recent',
    });
    expect(await past.sweep()).toBe(0);
  });

  it('does not take reading for a sign of life [ART-12]', async () => {
    const project = await newProject();
    const digest = await stored(project, 'read often');
    const before = (await stat(join(project.folder, digest))).mtimeMs;
    for (let times = 0; times < 3; times += 1) await readPages(project.later, `artifact://${digest}`);
    expect((await stat(join(project.folder, digest))).mtimeMs).toBe(before);
    expect(fatesOf(await project.collect())).toEqual({ [digest]: 'removed' });
  });

  it('leaves files alone that have no digest for a name [ART-9]', async () => {
    const project = await newProject();
    await stored(project, 'x');
    const kept = ['notes', 'A'.repeat(64), `${sha256('x')}.bak`, `.capture-${randomIds.uuid()}-0.tmp`];
    for (const name of kept) await writeFile(join(project.folder, name), 'kept');
    await mkdir(join(project.folder, sha256('a folder')));
    await project.collect();
    for (const name of kept) expect(await readFile(join(project.folder, name), 'utf8')).toBe('kept');
    expect((await stat(join(project.folder, sha256('a folder')))).isDirectory()).toBe(true);
  });

  it('skips its pass while output is published and not yet referred to [ART-10]', async () => {
    const project = await newProject();
    await stored(project, 'dead');
    const capture = await project.store.capture(requestOf(SINGLE));
    const { release } = await capture.finish({ incomplete: false });
    expect(await project.collect()).toEqual({ kind: 'skipped', reason: 'output is being published' });
    await release();
    expect(await project.collect()).toMatchObject({ kind: 'collected', tallies: { removed: { count: 2 } } });
  });

  it('tells in a dry run what it would remove, and removes nothing [ART-9]', async () => {
    const project = await newProject();
    const digest = await stored(project, 'dead');
    expect(await project.collect({ dryRun: true, list: false })).toMatchObject({
      kind: 'collected',
      dryRun: true,
      tallies: { removed: { count: 1, bytes: 4 } },
      blobs: null,
    });
    expect(await readPages(project.store, `artifact://${digest}`)).toEqual(['dead']);
  });

  it('finds nothing in a store that was never made [ART-2]', async () => {
    const folder = join(await newFolder(), 'none');
    const store = new ArtifactStore({ folder, locks: fileLocks, clock: manualClock(), ids: randomIds });
    const report = await store.collect({ logs: () => logFilesUnder(folder, 'events.jsonl') }, NO_ABORT);
    expect(report).toMatchObject({ kind: 'collected', tallies: { removed: { count: 0 } } });
  });
});

describe('a janitor that cannot tell what is alive removes nothing', () => {
  it.each([
    [
      'a log is a link',
      async ({ sessions }: Project) => symlink('/etc/hostname', join(sessions, 'root', 'events.jsonl')),
    ],
    [
      'a session is a link to a folder',
      async ({ sessions }: Project) => symlink('/tmp', join(sessions, 'linked')),
    ],
    [
      'sessions are no folder',
      async ({ sessions }: Project) => {
        await rm(sessions, { recursive: true });
        await writeFile(sessions, '');
      },
    ],
    [
      'a folder has a name that is no UTF-8',
      async ({ sessions }: Project) => {
        const folder = Buffer.concat([Buffer.from(join(sessions, 'caf')), Buffer.from([0xe9])]);
        await mkdir(folder);
      },
    ],
    [
      'a log has a line of more than 64 MiB',
      async ({ log }: Project) => void (await log('root', 'x'.repeat(65 * 1024 * 1024))),
    ],
  ])('where %s [ART-9]', async (_, damage) => {
    const project = await newProject();
    const digest = await stored(project, 'kept');
    await mkdir(join(project.sessions, 'root'), { recursive: true });
    await damage(project);
    expect(await project.collect()).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/./) as unknown,
    });
    expect(await readPages(project.store, `artifact://${digest}`)).toEqual(['kept']);
  });

  it('where the listing fails halfway [ART-9]', async () => {
    const project = await newProject();
    await stored(project, 'kept');
    const logs = async function* (): AsyncGenerator<string> {
      yield* project.logs();
      throw new Error('the disk of sessions is gone');
    };
    expect(await project.collect({ logs })).toEqual({
      kind: 'failed',
      reason: 'the disk of sessions is gone',
    });
    expect(fatesOf(await project.collect({ dryRun: true }))).toMatchObject({ [sha256('kept')]: 'removed' });
  });

  it('and stops when its signal says so, with the reason of the signal', async () => {
    const project = await newProject();
    const digest = await stored(project, 'kept');
    await project.log('root', eventWith(digest));
    const stopped = project.later.collect({ logs: project.logs }, AbortSignal.abort(new Error('enough')));
    await expect(stopped).rejects.toThrow('enough');
  });
});

describe('the cache of the janitor', () => {
  const cachePath = ({ folder }: Project): string => join(folder, '.references.cache');

  it('spares what did not change: an unchanged log is not opened again [ART-14]', async () => {
    const project = await newProject();
    const digest = await stored(project, 'live');
    const path = await project.log('root', eventWith(digest));
    const { mtime, size } = await stat(path);
    await utimes(path, mtime, mtime); // To the millisecond, as it can be set again.
    await project.collect();
    // Forged so that nothing shows: only a second reading would tell, and none is made.
    await writeFile(path, 'x'.repeat(size));
    await utimes(path, mtime, mtime);
    expect(fatesOf(await project.collect())).toEqual({ [digest]: 'referenced' });
  });

  it('goes on where it stopped when a log has grown, and starts again when it was written anew [ART-14]', async () => {
    const project = await newProject();
    const texts = ['first', 'second', 'third'];
    const [first = '', second = '', third = ''] = await Promise.all(
      texts.map((text) => stored(project, text)),
    );
    const path = await project.log('root', eventWith(first), 'x'.repeat(1000));
    await appendFile(path, eventWith(second).slice(0, 20));
    expect(fatesOf(await project.collect({ dryRun: true }))).toMatchObject({
      [first]: 'referenced',
      [second]: 'removed',
    });
    await appendFile(path, `${eventWith(second).slice(20)}\n`);
    expect(fatesOf(await project.collect({ dryRun: true }))).toMatchObject({
      [first]: 'referenced',
      [second]: 'referenced',
    });
    // In place and longer than before, with another beginning.
    await writeFile(path, `${eventWith(third)}\n${'y'.repeat(5000)}\n`);
    expect(fatesOf(await project.collect())).toEqual({
      [first]: 'removed',
      [second]: 'removed',
      [third]: 'referenced',
    });
  });

  it('forgets a session that is gone, and finds one that moved [ART-14] [ART-9]', async () => {
    const project = await newProject();
    const [moved, gone] = [await stored(project, 'moved'), await stored(project, 'gone')];
    await project.log('a', eventWith(moved));
    await project.log('b', eventWith(gone));
    await project.collect();
    await rename(join(project.sessions, 'a'), join(project.sessions, 'c'));
    await rm(join(project.sessions, 'b'), { recursive: true });
    expect(fatesOf(await project.collect())).toEqual({ [moved]: 'referenced', [gone]: 'removed' });
  });

  it.each([
    ['filled with NUL', async (path: string) => writeFile(path, Buffer.alloc((await stat(path)).size))],
    ['cut off', async (path: string) => writeFile(path, (await readFile(path)).subarray(0, 300))],
    ['empty', async (path: string) => writeFile(path, '')],
    [
      'changed in one digit of a digest',
      async (path: string) => {
        const text = await readFile(path, 'utf8');
        await writeFile(path, text.replace(/[0-9a-f]{3}"\]$/, 'fff"]'));
      },
    ],
    [
      'a folder',
      async (path: string) => {
        await rm(path);
        await mkdir(path);
      },
    ],
    [
      'a link',
      async (path: string) => {
        await rename(path, `${path}.elsewhere`);
        await symlink(`${path}.elsewhere`, path);
      },
    ],
    ['deleted', async (path: string) => rm(path)],
    ['not readable', async (path: string) => chmod(path, 0)],
  ])('costs time and no artifact when it is %s [ART-14] [field J18]', async (_, damage) => {
    const project = await newProject();
    const { retained } = await captureAll(project.store, requestOf(BASH), [
      { stream: 'stdout', text: 'live' },
    ]);
    await project.log('root', JSON.stringify({ retained_output: { reference: retained!.reference } }));
    await project.collect();
    await damage(cachePath(project));
    const fates = fatesOf(await project.collect());
    expect(Object.values(fates)).toEqual(['referenced', 'referenced', 'referenced']);
    expect(fatesOf(await project.collect())).toEqual(fates);
  });

  it('agrees with a pass without cache, whatever is appended, cut, removed and replaced [ART-9] [ART-14]', async () => {
    const texts = ['a', 'b', 'c', 'd'];
    const step = fc.record({
      session: fc.constantFrom('one', 'two'),
      text: fc.constantFrom(...texts),
      what: fc.constantFrom('append', 'append torn', 'cut', 'remove', 'replace'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const project = await newProject();
        for (const text of texts) await stored(project, text);
        for (const { session, text, what } of steps) {
          const path = await project.log(session);
          const line = `${eventWith(sha256(text))}\n`;
          const now = await readFile(path);
          if (what === 'append') await appendFile(path, line);
          if (what === 'append torn') await appendFile(path, line.slice(0, 90));
          if (what === 'cut') await writeFile(path, now.subarray(0, Math.floor(now.length / 2)));
          if (what === 'remove') await rm(path);
          if (what === 'replace') await writeFile(path, line);
          const withCache = fatesOf(await project.collect({ dryRun: true }));
          await rm(cachePath(project), { force: true });
          expect(withCache).toEqual(fatesOf(await project.collect({ dryRun: true })));
        }
      }),
      { numRuns: 15 },
    );
  });
});
