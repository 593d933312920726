import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock, type EventEnvelope } from '@agentd/contract';
import { countingIds, turnParts } from '@agentd/contract/testing';
import { fileSessionStore } from '../file/index.ts';
import { osLocks } from '../file/testing/os-locks.ts';
import { modelMessages } from '../history.ts';
import { SessionState } from '../session-state.ts';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { runToEnd } from '../testing/engine-harness.ts';
import { bulk, pressureHarness, printTool, shelf } from './testing/pressure-harness.ts';

const PRESSURE = ['tool_output_elided', 'context_checkpoint_committed', 'context_rehydrated'];
const typeOf = (line: string): string => (JSON.parse(line) as EventEnvelope).payload.type;

let base = '';
let id = '';
let lines: readonly string[] = [];
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentd-pressure-'));
  ({ id, lines } = await richLog());
});
afterAll(() => rm(base, { recursive: true, force: true }));

const storeIn = (folder: string) =>
  fileSessionStore({ folder, locks: osLocks, clock: systemClock, ids: countingIds(), engineVersion: 'test' });

/** Reads and prints, bulky and not, until everything of this folder has happened more than once. */
async function richLog(): Promise<{ readonly id: string; readonly lines: readonly string[] }> {
  const harness = pressureHarness({
    answer: (_request, turn) => {
      if (turn === 30) return turnParts('done');
      const call = {
        id: `c${turn}`,
        tool: 'print',
        args: { label: `l${turn}`, bytes: turn % 3 === 0 ? 9000 : 4000 },
      };
      const open = { id: `o${turn}`, tool: 'open', args: { path: `f${turn % 4}` } };
      return turnParts(`Turn ${turn}.`, turn % 5 === 0 ? [call, open] : [call]);
    },
    tools: [
      printTool,
      shelf(Object.fromEntries([0, 1, 2, 3].map((n) => [`f${n}`, bulk(`f${n}`, n * 3000)]))).tool,
    ],
    sessions: storeIn(join(base, 'rich')),
  });
  const session = await harness.create();
  expect(await runToEnd(session, { maxTurns: 40 })).toMatchObject({ status: 'completed' });
  await harness.engine.stop();
  const text = await readFile(join(base, 'rich', session.id, 'events.jsonl'), 'utf8');
  return { id: session.id, lines: text.split(/(?<=\n)/).filter((line) => line !== '') };
}

/** What a crash left is opened and talked to; gives the requests that came of it. */
async function goOnFrom(bytes: string, name: string) {
  const folder = join(base, name);
  await mkdir(join(folder, id), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, id, 'events.jsonl'), bytes);
  const harness = pressureHarness({
    answer: () => turnParts('Recovered.'),
    sessions: storeIn(folder),
    ports: { ids: { ...countingIds(), uuid: () => crypto.randomUUID() } },
  });
  const session = await harness.engine.openSession(id, harness.listener);
  const end = await runToEnd(session, { clientRunId: 'after', input: 'go on' });
  const messages = modelMessages(session.state);
  await harness.engine.stop();
  return { end, messages, turns: harness.turns };
}

describe('a log in which room was made', () => {
  it('gives the same history after a restart [SES-1] [SES-8]', async () => {
    expect(lines.map(typeOf)).toEqual(expect.arrayContaining(PRESSURE));
    const { messages, turns } = await goOnFrom(lines.join(''), 'whole');
    const events = lines.map((line) => JSON.parse(line) as EventEnvelope);
    const before = modelMessages(SessionState.of(events));
    expect(turns[0]?.messages.slice(0, before.length)).toEqual(before);
    expect(messages.slice(0, before.length)).toEqual(before);
  });

  it('goes on validly from a crash before, within and after each of its steps [SES-5] [SES-6] [SES-8]', async () => {
    const places = lines.flatMap((line, place) => (PRESSURE.includes(typeOf(line)) ? [place] : []));
    expect(places.length).toBeGreaterThan(8);
    for (const place of places.slice(0, 8)) {
      const [before, line] = [lines.slice(0, place).join(''), lines[place] ?? ''];
      for (const [half, bytes] of [
        before,
        before + line.slice(0, line.length / 2),
        before + line,
      ].entries()) {
        const { end, turns } = await goOnFrom(bytes, `cut-${place}-${half}`);
        expect(end).toMatchObject({ status: 'completed', finalText: 'Recovered.' });
        for (const request of turns) assertValidRequest(request);
      }
    }
  });
});
