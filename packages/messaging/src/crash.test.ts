import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { randomIds } from '@agentd/contract';
import { inboxOpener } from './inbox.ts';
import { openFileLog } from './test/file-log.ts';
import { historyOf } from './test/history-of.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('./test/send-until-killed.ts'));

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'messaging-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

/** Runs the program until it has told `lines` messages, and kills it wherever it is then. */
async function lifeOf(path: string, life: number, lines: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['--conditions=@agentd/source', PROGRAM, path, String(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(line);
    if (told.length === lines) child.kill('SIGKILL');
  }
  return told;
}

it('delivers what a sender was told exactly once and in order, whenever the process is killed [MSG-2] [MSG-10] [field G11]', async () => {
  const path = join(folder, 'events.jsonl');
  const told: string[] = [];
  for (let life = 0; life < 5; life += 1) told.push(...(await lifeOf(path, life, 5 + life * 10)));
  const log = openFileLog(path);
  const events = [...log.events];
  const append: typeof log.append = (payload, runId) => {
    const event = log.append(payload, runId);
    events.push(event);
    return event;
  };
  const inbox = inboxOpener(randomIds)({ log: { append }, events: log.events });
  inbox.release();
  inbox.claim({ runId: 'last', kind: 'run_start', canReply: () => false });
  inbox.apply(append({ type: 'model_turn_committed', input_through_seq: events.at(-1)?.seq ?? 0 }, 'last'));
  log.close();
  expect(inbox.unacknowledged()).toBe(0);
  const read = historyOf(events).map((text) => /\w:\d+:\d+/.exec(text)?.[0] ?? text);
  expect(told.length).toBeGreaterThanOrEqual(125);
  expect(told.filter((body) => !read.includes(body))).toEqual([]);
  expect(new Set(read).size).toBe(read.length);
  for (const sender of ['a', 'b']) {
    const numbers = read
      .filter((body) => body.startsWith(`${sender}:`))
      .map((body) => body.split(':').map(Number))
      .map(([, life = 0, count = 0]) => life * 1_000_000 + count);
    expect(numbers.toSorted((one, other) => one - other)).toEqual(numbers);
  }
});
