import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findSession } from './find-session.ts';

const ROOT = '0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11';
const SIBLING = '0b6f3c2e-5d0a-4c55-9a58-3f6d1f0c2a11';
const CHILD = '7c1d9f00-5d0a-4c55-9a58-3f6d1f0c2a11';

describe('findSession', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'agentd-find-'));
    await mkdir(join(home, 'projects/one/sessions', ROOT, 'subagents', CHILD), { recursive: true });
    await mkdir(join(home, 'projects/two/sessions', SIBLING), { recursive: true });
  });
  afterAll(() => rm(home, { recursive: true }));

  it.each([
    [ROOT, ROOT, `one/sessions/${ROOT}/events.jsonl`],
    ['0b6f3c1', ROOT, `one/sessions/${ROOT}/events.jsonl`],
    ['0b6f3c2e-', SIBLING, `two/sessions/${SIBLING}/events.jsonl`],
    ['7c1d', CHILD, `one/sessions/${ROOT}/subagents/${CHILD}/events.jsonl`],
  ])('takes an id, or a beginning that only one has: %s', async (asked, sessionId, log) => {
    expect(await findSession(home, asked)).toMatchObject({ sessionId, log: join(home, 'projects', log) });
  });

  it.each([
    ['0b6f', `several sessions begin with 0b6f: ${ROOT}, ${SIBLING}`],
    ['ffff', 'there is no session ffff in '],
    ['7c1', '"7c1" is not a session id; "agentd sessions list" shows them'],
    ['../one', '"../one" is not a session id'],
    [`${ROOT}0`, `"${ROOT}0" is not a session id`],
  ])('says what is wrong with %s [CLI-1]', async (asked, message) => {
    await expect(findSession(home, asked)).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
  });
});
