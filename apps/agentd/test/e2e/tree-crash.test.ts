import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomIds } from '@agentd/contract';
import { SessionState } from '@agentd/engine';
import { startModelServer, type ModelServer } from '@agentd/model-gateway/testing';
import { compose, openSessions } from '../../src/compose.ts';
import { situate } from '../../src/situation.ts';
import { startAgentd } from './agentd-process.ts';
import { conversationProblems } from './conversation.ts';
import { TREE_AGENTS, TREE_SIZE, treeTurn } from './tree-model.ts';

/** As many as CI has time for; `AGENTD_TREE_CRASHES=200` looks closer. */
const POINTS = Number(process.env['AGENTD_TREE_CRASHES'] ?? 12);
const AT_ONCE = 3;

type Payload = { readonly type: string } & Readonly<Record<string, unknown>>;
type Log = readonly { readonly seq: number; readonly session_id: string; readonly payload: Payload }[];

describe('a tree of sessions whose process is killed at any moment', () => {
  let server: ModelServer;
  let root: string;
  const problems: string[] = [];
  let killed = 0;

  beforeAll(async () => {
    server = await startModelServer();
    server.reply(({ body }) => {
      problems.push(...conversationProblems(body));
      return treeTurn(body);
    });
    root = await mkdtemp(join(tmpdir(), 'agentd-trees-'));
  });
  afterAll(async () => {
    await server.close();
    await rm(root, { recursive: true, force: true });
  });

  async function makePlace(): Promise<{ readonly home: string; readonly cwd: string }> {
    const folder = await mkdtemp(join(root, 'tree-'));
    const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
    await mkdir(join(home, 'agents'), { recursive: true, mode: 0o700 });
    await mkdir(cwd);
    for (const [id, text] of Object.entries(TREE_AGENTS))
      await writeFile(join(home, 'agents', `${id}.md`), text);
    await writeFile(
      join(home, 'config.toml'),
      `model = "local/any"\n[providers.local]\nadaptor = "openai-compatible"\nbase_url = "${server.url}/v1"\napi_key = "none"\n`,
    );
    return { home, cwd };
  }

  /** What a process told before it was killed, at the latest after so many events. */
  async function killedAfter(
    told: number,
    place: { readonly home: string; readonly cwd: string },
  ): Promise<Log> {
    const running = startAgentd(['run', 'Begin.', '--output', 'json'], place);
    running.child.stdout.on('data', () => {
      if (running.stdoutLines().length >= told) running.child.kill('SIGKILL');
    });
    const { signal } = await running.ended;
    if (signal === 'SIGKILL') killed += 1;
    return running
      .stdoutLines()
      .flatMap((line) => (line.type === 'event' ? [line.event as Log[number]] : []));
  }

  /** Opens the tree again and lets it go on until it is quiet; resolves with all its logs. */
  async function goOn(
    place: { readonly home: string; readonly cwd: string },
    id: string,
  ): Promise<readonly Log[]> {
    const situation = await situate(place);
    const { engine } = compose(situation);
    try {
      const session = await engine.openSession(id);
      const run = { clientRunId: randomIds.uuid(), input: 'Go on.', models: ['local/any'] };
      await session.startRun({ ...run, maxTurns: 50, timeoutMs: 60_000 });
      await session.resume();
      await session.quiet();
    } finally {
      await engine.stop();
    }
    const sessions = openSessions(situation.project);
    const ids = [id, ...(await sessions.children(id))];
    return Promise.all(ids.map(async (one) => (await sessions.read(one)).events as Log));
  }

  it('plays a tree of twelve when nobody disturbs it, and kills at random otherwise: what was acknowledged arrives once, in order, and no result is lost [MSG-2] [MSG-6] [MSG-10] [DLG-11] [SES-6] [field G2] [field G13] [field F12]', async () => {
    const whole = await makePlace();
    const told = await killedAfter(Infinity, whole);
    expect(new Set(told.map(({ session_id: id }) => id)).size).toBe(TREE_SIZE);
    const logs = await goOn(whole, told[0]?.session_id ?? '');
    expectWhole(told, logs);
    expect(logs.flatMap(lettersOf).length).toBeGreaterThanOrEqual(20);

    const points = Array.from({ length: POINTS }, (_, index) => index);
    const worker = async (): Promise<void> => {
      for (let point = points.pop(); point !== undefined; point = points.pop()) {
        // Somewhere in its own part of the run: random, and no part is left out.
        const after = Math.ceil((told.length * (point + Math.random())) / POINTS);
        const place = await makePlace();
        const heard = await killedAfter(after, place);
        if (heard[0] !== undefined) expectWhole(heard, await goOn(place, heard[0].session_id));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(problems).toEqual([]);
    expect(killed).toBeGreaterThan(POINTS / 2);
  }, 1_800_000);
});

/** Nothing that was told is missing, everybody has ended, and whatever was accepted was read once and in order. */
function expectWhole(told: Log, logs: readonly Log[]): void {
  const bySession = new Map(logs.map((log) => [log[0]?.session_id ?? '', log]));
  for (const { session_id: id, seq, payload } of told)
    expect(bySession.get(id)?.find((event) => event.seq === seq)?.payload).toEqual(payload);
  for (const log of logs) {
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expectAllEnded(log);
    expectReadOnce(log);
    expectResultsTold(log);
  }
  const accepted = new Set(
    logs.flatMap((log) => ofType(log, 'message_accepted').map((one) => one['message_id'])),
  );
  for (const id of acknowledgedIn(logs)) expect(accepted).toContain(id);
}

function expectAllEnded(log: Log): void {
  const ends = log.filter(({ payload }) => /^run_(completed|interrupted)$/.test(payload.type));
  expect(ends).toHaveLength(ofType(log, 'run_started').length);
  const started = ofType(log, 'tool_call_started').map((one) => one['tool_call_id']);
  const ended = ofType(log, 'tool_call_terminated').map((one) => one['tool_call_id']);
  expect(new Set(ended)).toEqual(new Set(started));
  expect(ended).toHaveLength(started.length);
}

/** Letters and results alike: each stands in the history once, those of one sender and one mode in the order of acceptance. */
function expectReadOnce(log: Log): void {
  const history = SessionState.of(log as never).steps.flatMap(({ inputs }) => inputs);
  const letters = lettersOf(log);
  for (const { from, mode } of letters) {
    const bodies = letters.filter((one) => one.from === from && one.mode === mode).map(({ body }) => body);
    const read = history.flatMap((text) => bodies.filter((body) => text.includes(`\n${body}\n`)));
    expect(read).toEqual(bodies);
  }
  const claimed = ofType(log, 'message_claimed').length - ofType(log, 'message_released').length;
  expect(claimed).toBe(ofType(log, 'message_accepted').length);
}

/** Every child has an end in its parent's log, told by its call or by one message. */
function expectResultsTold(log: Log): void {
  const reserved = ofType(log, 'delegation_reserved').map((one) => one['invocation_id']);
  const finished = ofType(log, 'delegation_finished');
  expect(finished).toHaveLength(reserved.length);
  expect(new Set(finished.map((one) => one['invocation_id']))).toEqual(new Set(reserved));
  const told = ofType(log, 'message_accepted').filter(({ owner }) => owner === 'delegation');
  const keys = told.map((one) => one['idempotency_key']);
  expect(new Set(keys).size).toBe(keys.length);
  for (const one of finished.filter(({ delivery }) => delivery === 'inbox'))
    expect(keys).toContain(`delegation:${String(one['invocation_id'])}`);
}

function ofType(log: Log, type: string): readonly Payload[] {
  return log.flatMap(({ payload }) => (payload.type === type ? [payload] : []));
}

function lettersOf(log: Log) {
  return ofType(log, 'message_accepted')
    .filter(({ owner }) => owner === 'agent')
    .map(({ from, mode, body }) => ({ from, mode, body: String(body) }));
}

/** Messages of which some sender's log says that they were accepted. */
function acknowledgedIn(logs: readonly Log[]): readonly unknown[] {
  return logs.flatMap((log) =>
    ofType(log, 'tool_call_terminated').flatMap(({ result }) => {
      const { metadata } = (result ?? {}) as { readonly metadata?: Readonly<Record<string, unknown>> };
      return metadata?.['message_id'] ?? [];
    }),
  );
}
