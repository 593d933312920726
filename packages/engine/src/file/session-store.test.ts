import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { FileLocks } from '@agentd/contract';
import { countingIds, manualClock } from '@agentd/contract/testing';
import type { EnginePayload } from '../events.ts';
import { fileSessionStore } from './index.ts';
import { osLocks } from './testing/os-locks.ts';
import { created, envelope, input, logText, SESSION } from './testing/sample-events.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

const newFolder = temporaryFolders();
const OTHER = SESSION.replace('aa', 'ab');
const MISSING = SESSION.replace('aa', 'ac');
const CHILD = SESSION.replace('aa', 'ad');

async function setup(locks: FileLocks = osLocks) {
  const folder = join(await newFolder(), 'projects', 'p', 'sessions');
  const store = fileSessionStore({
    folder,
    locks,
    clock: manualClock(),
    ids: countingIds(),
    engineVersion: '1.2.3',
  });
  const logPath = (id: string) => join(folder, id, 'events.jsonl');
  /** A session as somebody left it. */
  const lay = async (id: string, content: string | Uint8Array) => {
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(logPath(id), content);
  };
  return { folder, lay, logPath, store };
}

describe('fileSessionStore creates', () => {
  it('a folder with lock and first event, for the user alone [SES-1] [SES-2]', async () => {
    const { folder, logPath, store } = await setup();
    const owned = await store.create(SESSION, created);
    expect((await readdir(join(folder, SESSION))).toSorted()).toEqual(['events.jsonl', 'owner.lock']);
    expect((await stat(join(folder, SESSION))).mode & 0o777).toBe(0o700);
    expect((await stat(logPath(SESSION))).mode & 0o777).toBe(0o600);
    expect(owned.events).toMatchObject([{ seq: 1, payload: created }]);
    expect((await store.read(SESSION)).events).toEqual(owned.events);
    await owned.release();
  });

  it('holding the lock from the start [SES-4]', async () => {
    const { folder, store } = await setup();
    const owned = await store.create(SESSION, created);
    expect(await osLocks.tryExclusive(join(folder, SESSION, 'owner.lock'))).toBeNull();
    await owned.release();
    const lock = await osLocks.tryExclusive(join(folder, SESSION, 'owner.lock'));
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('nothing that a reader sees where the lock cannot be had, and leaves nothing behind', async () => {
    const { folder, store } = await setup({
      tryExclusive: async () => {
        throw Object.assign(new Error('ENOLCK: no locks available'), { code: 'ENOLCK' });
      },
    });
    await expect(store.create(SESSION, created)).rejects.toMatchObject({
      code: 'ENGINE_STORE_FAILED',
      message: `session ${SESSION} cannot be made: ENOLCK: no locks available`,
    });
    expect(await store.list()).toEqual([]);
    expect(await readdir(join(folder, '.creating'))).toEqual([]);
  });

  it('and removes what a process left that ended while it made one, not what another still makes', async () => {
    const { folder, store } = await setup();
    const [left, alive] = [join(folder, '.creating', 'left'), join(folder, '.creating', 'alive')];
    await mkdir(left, { recursive: true });
    await mkdir(alive);
    const lock = await osLocks.tryExclusive(join(alive, 'owner.lock'));
    const owned = await store.create(SESSION, created);
    expect(await readdir(join(folder, '.creating'))).toEqual(['alive']);
    await lock?.release();
    await owned.release();
  });

  it('many at once', async () => {
    const { store } = await setup();
    const ids = countingIds();
    const owned = await Promise.all(Array.from({ length: 20 }, () => store.create(ids.uuid(), created)));
    expect(await store.list()).toHaveLength(20);
    await Promise.all(owned.map(({ release }) => release()));
  });

  it('a child below its root, under the lock of the tree [SES-4]', async () => {
    const { folder, store } = await setup();
    const child: EnginePayload = {
      ...created,
      origin: {
        root_id: SESSION,
        parent_id: SESSION,
        parent_run_id: 'r',
        tool_call_id: 'c',
        invocation_id: 'i',
        depth: 1,
      },
    };
    await expect(store.create(CHILD, child)).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
    const root = await store.create(SESSION, created);
    const owned = await store.create(CHILD, child);
    expect(await readdir(join(folder, SESSION, 'subagents', CHILD))).toEqual(['events.jsonl']);
    expect((await store.read(CHILD)).events).toMatchObject([{ payload: child }]);
    expect((await store.list()).map(({ sessionId }) => sessionId)).toEqual([SESSION]);
    await root.release();
    expect(await osLocks.tryExclusive(join(folder, SESSION, 'owner.lock'))).toBeNull();
    await owned.release();
    const again = await store.open(CHILD);
    await again.release();
    expect([await store.children(SESSION), await store.children(CHILD)]).toEqual([[CHILD], []]);
    expect([await store.rootOf(CHILD), await store.rootOf(SESSION)]).toEqual([SESSION, SESSION]);
    const nobody = '0b6f3c1e-5d0a-4c55-9a58-00000000dead';
    await expect(store.rootOf(nobody)).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
  });

  it('and clears away, when the root opens, what a crash left of subagents that were being made [SES-4]', async () => {
    const { folder, store } = await setup();
    await (await store.create(SESSION, created)).release();
    await mkdir(join(folder, SESSION, '.creating', `${CHILD}-0000`), { recursive: true });
    const owned = await store.open(SESSION);
    expect((await readdir(join(folder, SESSION))).toSorted()).toEqual(['events.jsonl', 'owner.lock']);
    await owned.release();
  });
});

describe('fileSessionStore opens', () => {
  it('and goes on with the next number [SES-1]', async () => {
    const { lay, logPath, store } = await setup();
    await lay(SESSION, logText([input('a')]));
    const { log, release } = await store.open(SESSION);
    expect(log.append(input('b'), null).seq).toBe(3);
    await log.sync();
    await release();
    expect((await readFile(logPath(SESSION), 'utf8')).startsWith(logText([input('a')]))).toBe(true);
    expect((await store.read(SESSION)).events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('a log whose numbers repeat, and goes on with the next free one [field J17]', async () => {
    const { lay, store } = await setup();
    const lines = [...Array(10).keys()].map((index) =>
      envelope(index + 1, index === 0 ? created : input(`${index}`)),
    );
    const more = [envelope(10, input('another')), envelope(11, input('last'))];
    await lay(SESSION, [...lines, ...more].map((event) => `${JSON.stringify(event)}\n`).join(''));
    const { events, log, release } = await store.open(SESSION);
    expect(events).toHaveLength(12);
    expect(log.append(input('b'), null).seq).toBe(12);
    await release();
  });

  it('cuts a torn last line off and reports it; read leaves it [SES-3]', async () => {
    const { lay, logPath, store } = await setup();
    const torn = `${logText([input('a')])}{"seq":3,"session_id":"\xf0`;
    await lay(SESSION, torn);
    expect((await store.read(SESSION)).diagnostics).toMatchObject([{ kind: 'torn_tail', line: 3 }]);
    expect(await readFile(logPath(SESSION), 'utf8')).toBe(torn);
    const { diagnostics, events, log, release } = await store.open(SESSION);
    expect(diagnostics).toMatchObject([{ kind: 'torn_tail', line: 3 }]);
    expect(events).toHaveLength(2);
    log.append(input('b'), null);
    await release();
    const after = await store.read(SESSION);
    expect(after.diagnostics).toEqual([]);
    expect(after.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('ends the line of a last event that lacks its line end', async () => {
    const { lay, store } = await setup();
    await lay(SESSION, logText([input('a')]).slice(0, -1));
    const { log, release } = await store.open(SESSION);
    log.append(input('b'), null);
    await release();
    expect(await store.read(SESSION)).toMatchObject({ events: [{}, {}, { seq: 3 }], diagnostics: [] });
  });

  it('keeps a bad line in the file as it is [field J5]', async () => {
    const { lay, logPath, store } = await setup();
    const lines = logText(Array.from({ length: 99 }, (_, index) => input(`${index}`))).split('\n');
    const bad = lines.with(49, '{oops').join('\n');
    await lay(SESSION, bad);
    const { events, log, release } = await store.open(SESSION);
    expect(events).toHaveLength(99);
    log.append(input('b'), null);
    await release();
    expect((await readFile(logPath(SESSION), 'utf8')).startsWith(bad)).toBe(true);
  });

  it('a log of 100,000 events without a copy of its text, in bounded time', async () => {
    const { lay, store } = await setup();
    await lay(SESSION, logText(Array.from({ length: 99_999 }, (_, index) => input(`text ${index}`))));
    const before = process.threadCpuUsage();
    const { events } = await store.read(SESSION);
    const { user, system } = process.threadCpuUsage(before);
    expect(events).toHaveLength(100_000);
    expect((user + system) / 1000).toBeLessThan(10_000);
  });

  it.each(['no-uuid', '..', `../${SESSION}`, SESSION.toUpperCase(), '', MISSING])(
    'says that there is no session %j, and touches nothing',
    async (id) => {
      const { folder, store } = await setup();
      await expect(store.open(id)).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
      await expect(store.read(id)).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
      await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );
});

describe('fileSessionStore and damaged sessions', () => {
  it.each([
    ['an empty file', ''],
    ['one newline', '\n'],
    ['a first line that breaks off', logText([]).slice(0, 50)],
    ['a first line that is no JSON', `{oops\n${logText([input('a')]).split('\n')[1]}\n`],
    ['no session_created at first', `${JSON.stringify(envelope(1, input('a')))}\n`],
    ['NUL bytes alone', '\0'.repeat(500)],
  ])('fails for %s, for that session alone [SES-3] [field J4]', async (_, content) => {
    const { lay, store } = await setup();
    await lay(SESSION, content);
    await lay(OTHER, logText([input('a')]));
    await expect(store.open(SESSION)).rejects.toMatchObject({
      code: 'ENGINE_SESSION_DAMAGED',
      message: expect.stringContaining(SESSION),
    });
    await expect(store.read(SESSION)).rejects.toMatchObject({ code: 'ENGINE_SESSION_DAMAGED' });
    const rows = new Map((await store.list()).map(({ sessionId, damaged }) => [sessionId, damaged]));
    expect(rows.get(OTHER)).toBeNull();
    expect(rows.get(SESSION)).toEqual(expect.stringMatching(/./));
    await (await store.open(OTHER)).release();
  });

  it('lets the lock of a damaged session go', async () => {
    const { folder, lay, store } = await setup();
    await lay(SESSION, '');
    await expect(store.open(SESSION)).rejects.toMatchObject({ code: 'ENGINE_SESSION_DAMAGED' });
    const lock = await osLocks.tryExclusive(join(folder, SESSION, 'owner.lock'));
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it.each([
    ['a folder', (path: string) => mkdir(path)],
    ['a link', (path: string) => symlink('/etc/hostname', path)],
    ['nothing', async () => undefined],
  ])('fails for %s in place of the log, and lists it as damaged [field J4]', async (_, place) => {
    const { folder, logPath, store } = await setup();
    await mkdir(join(folder, SESSION), { recursive: true });
    await place(logPath(SESSION));
    await expect(store.open(SESSION)).rejects.toMatchObject({ code: 'ENGINE_SESSION_DAMAGED' });
    await expect(store.read(SESSION)).rejects.toMatchObject({ code: 'ENGINE_SESSION_DAMAGED' });
    expect(await store.list()).toMatchObject([{ sessionId: SESSION, damaged: expect.any(String) }]);
  });

  it('opens a session that has a header only [field J4]', async () => {
    const { lay, store } = await setup();
    await lay(SESSION, logText([]));
    const { events, release } = await store.open(SESSION);
    expect(events).toHaveLength(1);
    await release();
  });
});

describe('fileSessionStore lists', () => {
  it('the newest first, and nothing that is no session', async () => {
    const { folder, lay, logPath, store } = await setup();
    expect(await store.list()).toEqual([]);
    await lay(SESSION, logText([]));
    await lay(OTHER, logText([]));
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'file'), '');
    await utimes(logPath(SESSION), 2000, 2000);
    await utimes(logPath(OTHER), 1000, 1000);
    expect(await store.list()).toEqual([
      { sessionId: SESSION, updatedAt: 2_000_000, damaged: null },
      { sessionId: OTHER, updatedAt: 1_000_000, damaged: null },
    ]);
    await appendFile(logPath(OTHER), 'x');
    expect((await store.list())[0]?.sessionId).toBe(OTHER);
  });
});

describe('fileSessionStore goes on', () => {
  it.each([2 ** 40, 2 ** 48 - 1, 2 ** 48, 2 ** 52, Number.MAX_SAFE_INTEGER])(
    'after a damaged number of %i so that every later event can be read again [SES-2] [SES-3]',
    async (damaged) => {
      const { lay, store } = await setup();
      await lay(SESSION, logText([input('a')]) + `${JSON.stringify(envelope(damaged, input('odd')))}\n`);
      const owned = await store.open(SESSION);
      const added = ['b', 'c'].map((text) => owned.log.append(input(text), null));
      await owned.log.sync();
      await owned.release();
      const { events } = await store.read(SESSION);
      expect(events.slice(-2)).toEqual(added);
    },
  );
});

describe('fileSessionStore says', () => {
  it('of what the disk refuses what was asked of it [SES-3]', async () => {
    const { folder, lay, store } = await setup();
    await lay(SESSION, logText([]));
    await mkdir(join(folder, SESSION, 'owner.lock'));
    await expect(store.open(SESSION)).rejects.toMatchObject({
      code: 'ENGINE_STORE_FAILED',
      message: expect.stringMatching(`^session ${SESSION} cannot be opened: EISDIR.*owner\\.lock`),
    });
    expect((await store.read(SESSION)).events).toHaveLength(1);
  });
});

describe('a log that is taken away while it is open', () => {
  it.each(['deleted', 'replaced'])('is not called durable once it is %s [SES-2]', async (how) => {
    const { logPath, store } = await setup();
    const { log, release } = await store.create(SESSION, created);
    log.append(input('a'), null);
    await log.sync();
    if (how === 'deleted') await rm(logPath(SESSION));
    else {
      await writeFile(`${logPath(SESSION)}.new`, logText([]));
      await rename(`${logPath(SESSION)}.new`, logPath(SESSION));
    }
    log.append(input('b'), null);
    await expect(log.sync()).rejects.toMatchObject({
      code: 'ENGINE_LOG_FAILED',
      message: expect.stringContaining('deleted or replaced'),
    });
    await release().catch(() => undefined);
  });
});

describe('fileSessionStore releases', () => {
  it('the lock also when the log can no longer be written', async () => {
    const { folder, store } = await setup();
    const owned = await store.create(SESSION, created);
    await owned.log.close();
    await owned.release();
    await owned.release();
    const again = await store.open(SESSION);
    await again.release();
    await rm(folder, { recursive: true });
  });
});
