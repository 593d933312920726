import { openaiTurn, startModelServer } from '@agentd/model-gateway/testing';
import { mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { localProvider } from './local-provider.ts';
import { AGENTD, median, ms, timeRun, type RunFigures } from './measure.ts';

const MESSAGES = 1000;
const MESSAGES_A_TURN = 100;
const CHILDREN = 200;
const CHILDREN_A_TURN = 20;
/** Calls have two events each, so the child's log grows to some 10,000. */
const CHILD_TURNS = 98;
const CALLS_A_TURN = 50;
const LOOKS = 5;
const SYNCS = 300;
/** About as long as the line of an accepted message. */
const LINE = `${'x'.repeat(400)}\n`;

interface Request {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** What a session does in its turns, from 0; null lets it end. */
type RootTurn = (turn: number, body: Request) => Parameters<typeof openaiTurn>[0] | null;

interface TreeRun {
  readonly figures: RunFigures;
  readonly events: readonly StoredEvent[];
  readonly fsyncsASecond: number;
  /** Reading and parsing the largest log. */
  readonly parseMs: number;
}

interface TreeOptions {
  /** What each child does; it ends at once unless given. */
  readonly child?: RootTurn;
  /** Processes one after the other, each with another prompt for the same session; 1 unless given. */
  readonly runs?: number;
}

interface StoredEvent {
  readonly session_id: string;
  readonly timestamp: string;
  readonly payload: {
    readonly type: string;
    readonly tool?: string;
    readonly tool_call_id?: string;
  };
}

/** 1,000 messages from a session to its child, 100 a turn, against what the disk syncs of lines as long. */
export async function messages(): Promise<readonly string[]> {
  const { figures, events, fsyncsASecond } = await runTree((turn, body) => {
    if (turn === 0) return { calls: [delegate(0)] };
    if (turn > MESSAGES / MESSAGES_A_TURN) return null;
    const to = childIn(body);
    const calls = Array.from({ length: MESSAGES_A_TURN }, (_, index) => {
      const args = { to, body: `message ${turn}-${index}` };
      return { id: `m_${turn}_${index}`, name: 'send_message', args };
    });
    return { calls };
  });
  const accepted = events.filter(({ payload }) => payload.type === 'message_accepted');
  const consumed = events.filter(({ payload }) => payload.type === 'message_consumed');
  const times = accepted.map(({ timestamp }) => Date.parse(timestamp));
  const rate = (accepted.length * 1000) / (Math.max(...times) - Math.min(...times));
  return [
    `${accepted.length} accepted and ${consumed.length} read in ${ms(figures.wallMs)}, the start of the process included`,
    `${rate.toFixed(0)} acceptances a second, each on disk before its call ended; the disk syncs ${fsyncsASecond.toFixed(0)} lines a second one by one: ${(rate / fsyncsASecond).toFixed(2)} of it`,
  ];
}

/** A root that starts 200 subagents of one turn each, 20 at a time, and waits for them. */
export async function subagents(): Promise<readonly string[]> {
  const { figures, events } = await runTree((turn) => {
    if (turn >= CHILDREN / CHILDREN_A_TURN) return null;
    const calls = Array.from({ length: CHILDREN_A_TURN }, (_, index) =>
      delegate(turn * CHILDREN_A_TURN + index),
    );
    return { calls };
  });
  const alone = await runTree(() => null);
  const sessions = new Set(events.map(({ session_id: id }) => id)).size;
  const added = figures.wallMs - alone.figures.wallMs;
  return [
    `${sessions - 1} subagents in ${ms(figures.wallMs)}, ${ms(added / CHILDREN)} each beside a run without any (${ms(alone.figures.wallMs)})`,
    `peak memory ${figures.peakRssMib.toFixed(0)} MiB; a run without any takes ${alone.figures.peakRssMib.toFixed(0)} MiB`,
  ];
}

/** `get_subagent_result` on a child with 10,000 events: in memory, and in a process that has never loaded it. */
export async function subagentResult(): Promise<readonly string[]> {
  const look = (body: Request, turn: number) => {
    const args = { session_id: childIn(body) };
    return { id: `look_${turn}`, name: 'get_subagent_result', args };
  };
  const turns: RootTurn = (turn, body) => {
    if (turn === 0) return { calls: [delegate(0)] };
    return turn % 2 === 1 ? { calls: [look(body, turn)] } : null;
  };
  const child: RootTurn = (turn) => (turn < CHILD_TURNS ? { calls: readCalls(turn) } : null);
  const { events, parseMs } = await runTree(turns, { child, runs: 1 + LOOKS });
  const logs = [...Map.groupBy(events, ({ session_id: id }) => id).values()];
  const largest = Math.max(...logs.map(({ length }) => length));
  const [inProcess = Number.NaN, ...later] = callTimes(events, 'get_subagent_result');
  return [
    `${largest} events in the child's log, which takes ${ms(parseMs)} to read and parse`,
    `in the process that ran it: ${ms(inProcess)}, from the start of the call to its end`,
    `in a process that opened the tree: ${ms(median(later))}`,
  ];
}

/** From the start of each call of the tool to its end, by the events. */
function callTimes(events: readonly StoredEvent[], tool: string): readonly number[] {
  const started = events.filter(
    ({ payload }) => payload.type === 'tool_call_started' && payload.tool === tool,
  );
  return started.map(({ timestamp, payload }) => {
    const end = events.find(
      (event) =>
        event.payload.type === 'tool_call_terminated' && event.payload.tool_call_id === payload.tool_call_id,
    );
    return Date.parse(end?.timestamp ?? '') - Date.parse(timestamp);
  });
}

function readCalls(turn: number) {
  return Array.from({ length: CALLS_A_TURN }, (_, index) => ({
    id: `r_${turn}_${index}`,
    name: 'read',
    args: { filePath: 'config.toml', limit: 1 },
  }));
}

function delegate(number: number) {
  const args = { description: `task ${number}`, prompt: 'Answer.', agent_type: 'helper' };
  return { id: `d_${number}`, name: 'delegate_subagent', args };
}

function childIn({ messages: said }: Request): string {
  return /\[subagent session (\w+)/.exec(JSON.stringify(said))?.[1] ?? '';
}

async function runTree(root: RootTurn, { child = () => null, runs = 1 }: TreeOptions = {}): Promise<TreeRun> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const server = await startModelServer();
  try {
    const home = join(folder, 'home');
    await mkdir(join(home, 'agents'), { recursive: true });
    for (const [id, mode] of [
      ['default', 'primary'],
      ['helper', 'subagent'],
    ] as const)
      await writeFile(join(home, 'agents', `${id}.md`), agentDocument(id, mode));
    const config = await localProvider(folder, `${server.url}/v1`);
    await writeFile(config, `${await readFile(config, 'utf8')}${NO_LIMITS}`);
    const rootEnds = Promise.withResolvers<void>();
    server.reply(async ({ body }) => {
      const request = body as Request;
      const isRoot = JSON.stringify(request.messages[0]).includes('AGENT=default');
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      const next = (isRoot ? root : child)(turn, request);
      if (isRoot && next === null) rootEnds.resolve();
      // A reader that answers each message would be what is measured.
      if (!isRoot && JSON.stringify(request.messages).includes('<agent_message')) await rootEnds.promise;
      return openaiTurn(next ?? { text: 'Done.' });
    });
    const args = ['run', 'go', '--model', 'local/any', '--config', config, '--cwd', folder];
    const env = { ...process.env, AGENTD_HOME: home };
    const figures = await timeRun([...AGENTD, ...args], { env });
    if (figures.exitCode !== 0) throw new Error(`the run failed: ${figures.stderr}`);
    for (let more = 1; more < runs; more += 1) {
      const again = await timeRun([...AGENTD, ...args, '--session', await rootIn(home)], { env });
      if (again.exitCode !== 0) throw new Error(`a later run failed: ${again.stderr}`);
    }
    return { figures, ...(await logsIn(home)), fsyncsASecond: await syncRate(folder) };
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const NO_LIMITS = `
[messaging]
max_pending_per_session = 2000
max_inflight_per_pair = 0
`;

function agentDocument(id: string, mode: string): string {
  return `---\ndescription: Works.\nmode: ${mode}\npermissions: { delegate: allow, message: allow, read: allow }\n---\nAGENT=${id}\n`;
}

async function logPaths(home: string): Promise<readonly string[]> {
  const names = await readdir(home, { recursive: true });
  return names.filter((name) => name.endsWith('events.jsonl')).map((name) => join(home, name));
}

async function rootIn(home: string): Promise<string> {
  const [path = ''] = (await logPaths(home)).toSorted((a, b) => a.length - b.length);
  return basename(dirname(path));
}

async function logsIn(home: string): Promise<Pick<TreeRun, 'events' | 'parseMs'>> {
  const events: StoredEvent[] = [];
  let parseMs = 0;
  for (const path of await logPaths(home)) {
    const started = performance.now();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    events.push(...lines.map((line) => JSON.parse(line) as StoredEvent));
    parseMs = Math.max(parseMs, performance.now() - started);
  }
  return { events, parseMs };
}

/** Appends and syncs of one line after the other, a second. */
async function syncRate(folder: string): Promise<number> {
  await using file = await open(join(folder, 'syncs'), 'a');
  const started = performance.now();
  for (let count = 0; count < SYNCS; count += 1) {
    await file.appendFile(LINE);
    await file.datasync();
  }
  return (SYNCS * 1000) / (performance.now() - started);
}
