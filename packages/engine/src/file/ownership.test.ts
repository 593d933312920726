import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { countingIds } from '@agentd/contract/testing';
import { fileSessionStore } from './index.ts';
import { osLocks } from './testing/os-locks.ts';
import { runProgram } from './testing/run-program.ts';
import { created, input, SESSION } from './testing/sample-events.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

const newFolder = temporaryFolders();

async function setup() {
  const folder = await newFolder();
  const store = fileSessionStore({
    folder,
    locks: osLocks,
    clock: systemClock,
    ids: countingIds(),
    engineVersion: '1.2.3',
  });
  return { folder, store };
}

describe('the owner of a session tree', () => {
  it('keeps a second process out, which is told pid and start time, and can read [SES-4] [field J6]', async () => {
    const { folder, store } = await setup();
    const owner = runProgram('own-session.ts', [folder, SESSION, 'create']);
    const [, pid = '', startedAt = ''] = (await owner.nextLine()).split(' ');
    await owner.nextLine();
    await expect(store.open(SESSION)).rejects.toMatchObject({
      code: 'ENGINE_SESSION_LOCKED',
      message: expect.stringContaining(`process ${pid}, which began at ${startedAt}`),
      details: { pid: Number(pid), startedAt },
    });
    expect((await store.read(SESSION)).events.length).toBeGreaterThanOrEqual(2);
    expect(await store.list()).toMatchObject([{ sessionId: SESSION, damaged: null }]);
    await owner.kill();
  });

  it('is gone with its process: after SIGKILL the next one takes over, and nothing synced is lost [SES-2] [SES-4] [field J6]', async () => {
    const { folder, store } = await setup();
    const owner = runProgram('own-session.ts', [folder, SESSION, 'create']);
    await owner.nextLine();
    for (let count = 0; count < 12; count++) await owner.nextLine();
    const rest = await owner.kill();
    const synced = Number(rest.at(-1)?.split(' ')[1] ?? 13);
    const { events, log, release } = await store.open(SESSION);
    expect(events.length).toBeGreaterThanOrEqual(synced);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(log.append(input('after'), null).seq).toBe(events.length + 1);
    const note = JSON.parse(await readFile(join(folder, SESSION, 'owner.lock'), 'utf8'));
    expect(note).toMatchObject({ pid: process.pid });
    await release();
  });

  it('is found by a second process that is refused while this one writes [SES-4] [field J6]', async () => {
    const { folder, store } = await setup();
    const first = runProgram('own-session.ts', [folder, SESSION, 'create']);
    await first.nextLine();
    await first.kill();
    const { release } = await store.open(SESSION);
    const second = runProgram('own-session.ts', [folder, SESSION, 'open']);
    expect(await second.nextLine()).toMatch(
      new RegExp(`^refused session ${SESSION} is in use by process ${process.pid}`),
    );
    await release();
    const third = runProgram('own-session.ts', [folder, SESSION, 'open']);
    expect(await third.nextLine()).toMatch(/^owned /);
    await third.kill();
  });

  it.each(['create', 'open'])(
    'stays the only one where its lock file is removed while it writes (%s) [SES-4]',
    async (what) => {
      const { folder, store } = await setup();
      if (what === 'open') await (await store.create(SESSION, created)).release();
      const owner = runProgram('own-session.ts', [folder, SESSION, what]);
      await owner.nextLine();
      await rm(join(folder, SESSION, 'owner.lock'));
      await expect(store.open(SESSION)).rejects.toMatchObject({
        code: 'ENGINE_SESSION_LOCKED',
        message: expect.stringContaining('owner.lock'),
      });
      expect((await store.read(SESSION)).events.length).toBeGreaterThanOrEqual(1);
      await owner.kill();
      await (await store.open(SESSION)).release();
    },
  );

  it('opens a session once within its own process, too [SES-4]', async () => {
    const { folder, store } = await setup();
    const maker = runProgram('own-session.ts', [folder, SESSION, 'create']);
    await maker.nextLine();
    await maker.kill();
    const settled = await Promise.allSettled([store.open(SESSION), store.open(SESSION)]);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const rejected = settled.find(({ status }) => status === 'rejected');
    expect(rejected).toMatchObject({
      reason: { code: 'ENGINE_SESSION_LOCKED', message: expect.stringContaining(`${process.pid}`) },
    });
    for (const one of settled) if (one.status === 'fulfilled') await one.value.release();
  });

  it.each([1, 4, 9])(
    'is killed while it makes session after session (%i told), and each that can be seen has its first event [SES-2] [SES-3]',
    async (told) => {
      const { folder, store } = await setup();
      const maker = runProgram('make-sessions.ts', [folder]);
      for (let count = 0; count < told; count++) await maker.nextLine();
      const rest = await maker.kill();
      const rows = await store.list();
      expect(rows.length).toBeGreaterThanOrEqual(told + rest.length);
      for (const { damaged } of rows) expect(damaged).toBeNull();
      const owned = await store.create(SESSION, created);
      expect(await readdir(join(folder, '.creating'))).toEqual([]);
      await owned.release();
    },
  );
});
