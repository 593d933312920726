import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelError, systemClock, type EventEnvelope } from '@agentd/contract';
import { countingIds, sequenceModel, turnParts } from '@agentd/contract/testing';
import type { EngineEvent } from './events.ts';
import { fileSessionStore } from './file/index.ts';
import { osLocks } from './file/testing/os-locks.ts';
import { assertValidRequest } from './testing/assert-valid-request.ts';
import { engineHarness, heldTool, payloadsOf, runInit, runToEnd, until } from './testing/engine-harness.ts';

const look = (label: string, id = `c-${label}`) => ({ id, tool: 'look', args: { label } });

let base = '';
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentd-crash-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

const storeIn = (folder: string) =>
  fileSessionStore({
    folder,
    locks: osLocks,
    clock: systemClock,
    ids: countingIds(),
    engineVersion: 'test',
  });

/** Two runs with all that a log can hold: a retry, parallel calls, a steer between results, notes, a call by hand. */
async function richLog(): Promise<{ readonly id: string; readonly lines: readonly string[] }> {
  const folder = join(base, 'rich');
  const held = heldTool('look', { hold: true });
  const { clock, create, engine } = engineHarness({
    sessions: storeIn(folder),
    tools: [held.tool],
    turns: [
      modelError('MODEL_RATE_LIMIT', 'slow down'),
      turnParts('Let me see.', [look('a'), look('b')]),
      turnParts('More.', [look('c')]),
      turnParts('First done.'),
      turnParts('', [look('d')]),
      turnParts('Second done.'),
    ],
    notes: async () => ({ path: '/project/AGENTS.md', text: 'Use tabs.' }),
  });
  const session = await create();
  const { runId, done } = await session.startRun(runInit({ input: 'first prompt' }));
  await until(() => clock.pending() === 2);
  clock.advance(1250);
  await until(() => held.started.length === 2);
  held.release('b');
  await until(() => session.state.openCalls.length === 1);
  await session.steer(runId, 'first steer');
  held.release('a');
  held.release('c');
  held.release('d');
  await done;
  await session.callTool(
    { clientRunId: 'hand', tool: 'look', args: '{"label":"d"}' },
    new AbortController().signal,
  );
  await runToEnd(session, { clientRunId: 'run-2', input: 'second prompt' });
  await engine.stop();
  const text = await readFile(join(folder, session.id, 'events.jsonl'), 'utf8');
  return { id: session.id, lines: text.split(/(?<=\n)/) };
}

/** What a crash left is opened and talked to; gives what must hold of it. */
async function goOnFrom(id: string, bytes: string, name: string) {
  const folder = join(base, name);
  await mkdir(join(folder, id), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, id, 'events.jsonl'), bytes);
  const held = heldTool('look');
  const harness = engineHarness({
    sessions: storeIn(folder),
    tools: [held.tool],
    turns: [turnParts('', [look('new')]), turnParts('Recovered.')],
    ports: { ids: { ...countingIds(), uuid: () => crypto.randomUUID() } },
  });
  const session = await harness.engine.openSession(id, harness.listener);
  const end = await runToEnd(session, { clientRunId: 'run-after', input: 'go on' });
  await harness.engine.stop();
  const { events } = await harness.engine.readSession(id);
  await rm(folder, { recursive: true });
  return { end, events: events as readonly EngineEvent[], held, requests: harness.model.requests };
}

function assertClosed(events: readonly EngineEvent[]): void {
  const counts = (type: 'tool_call_started' | 'tool_call_terminated') =>
    payloadsOf(events, type).map((payload) => payload.tool_call_id);
  expect(counts('tool_call_terminated').toSorted()).toEqual(counts('tool_call_started').toSorted());
  const started = events.filter(({ payload }) => payload.type === 'run_started').map(({ run_id }) => run_id);
  const ends = ['run_completed', 'run_failed', 'run_cancelled', 'run_interrupted'];
  const ended = events.filter(({ payload }) => ends.includes(payload.type)).map(({ run_id }) => run_id);
  expect(ended).toEqual(started);
  const seqs = events.map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  expect(new Set(seqs).size).toBe(seqs.length);
}

describe('a crash after any event, also in the middle of a line', () => {
  it('leaves a session that goes on: valid, with all that was acknowledged, and nothing runs twice [SES-5] [SES-6]', async () => {
    const { id, lines } = await richLog();
    expect(lines.length).toBeGreaterThan(30);
    for (const [index, line] of lines.entries()) {
      if (index === 0) continue;
      const whole = lines.slice(0, index).join('');
      for (const torn of ['', line.slice(0, line.length / 2)]) {
        const { end, events, held, requests } = await goOnFrom(
          id,
          whole + torn,
          `cut-${index}-${torn.length}`,
        );
        expect(end).toMatchObject({ status: 'completed', finalText: 'Recovered.' });
        expect(held.started).toEqual(['new']);
        requests.forEach(assertValidRequest);
        assertClosed(events);
        assertNothingLost(JSON.stringify(requests[0]!.messages), lines.slice(0, index));
      }
    }
  });

  it('gives a known run its end, and does not start it again [SES-2] [SES-6]', async () => {
    const { id, bytes } = await startedLog();
    const folder = join(base, 'known');
    await mkdir(join(folder, id), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, id, 'events.jsonl'), bytes);
    const { engine, model, shown, listener } = engineHarness({
      sessions: storeIn(folder),
      models: { 'test/b': sequenceModel([]) },
    });
    const session = await engine.openSession(id, listener);
    const { existing, done } = await session.startRun(runInit({ input: 'first prompt' }));
    expect(existing).toBe(true);
    expect(await done).toMatchObject({ status: 'failed', reason: 'interrupted', turns: 0 });
    expect(model.requests).toEqual([]);
    expect(shown.map(({ payload }) => payload.type)).toEqual(['run_interrupted']);
    await engine.stop();
  });
});

/** Everything a caller may have been told of: inputs once each, in order, and the results that were recorded. */
function assertNothingLost(history: string, lines: readonly string[]): void {
  const events = lines.map((line) => JSON.parse(line) as EventEnvelope as EngineEvent);
  const said = payloadsOf(events, 'user_input_submitted').map(({ text }) => text);
  expect(said.filter((text) => history.split(text).length !== 2)).toEqual([]);
  const places = said.map((text) => history.indexOf(text));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  const byHand = new Set(events.filter(({ payload }) => isHandRun(payload)).map(({ run_id }) => run_id));
  const results = events
    .filter(({ run_id }) => !byHand.has(run_id))
    .flatMap(({ payload }) => (payload.type === 'tool_call_terminated' ? [payload.result?.text ?? ''] : []));
  for (const text of results) expect(history).toContain(text);
  for (const { text } of payloadsOf(events, 'agents_md_loaded')) expect(history).toContain(text);
}

const isHandRun = (payload: EngineEvent['payload']): boolean =>
  payload.type === 'run_started' && payload.client_run_id === 'hand';

/** A log that ends right after the answer to a caller: the run has started and nothing more. */
async function startedLog(): Promise<{ readonly id: string; readonly bytes: string }> {
  const folder = join(base, 'started');
  const { create, engine } = engineHarness({
    sessions: storeIn(folder),
    turns: [
      async function* () {
        yield { type: 'text-delta', id: '0', text: 'I wi' };
        await new Promise(() => undefined);
      },
    ],
  });
  const session = await create();
  await session.startRun(runInit({ input: 'first prompt' }));
  const bytes = await readFile(join(folder, session.id, 'events.jsonl'), 'utf8');
  await engine.stop();
  return { id: session.id, bytes };
}
