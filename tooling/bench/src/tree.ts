import { openaiTurn, startModelServer } from '@agentd/model-gateway/testing';
import { mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localProvider } from './local-provider.ts';
import { AGENTD, ms, timeRun, type RunFigures } from './measure.ts';

const MESSAGES = 1000;
const MESSAGES_A_TURN = 100;
const CHILDREN = 200;
const CHILDREN_A_TURN = 20;
const SYNCS = 300;
/** About as long as the line of an accepted message. */
const LINE = `${'x'.repeat(400)}\n`;

interface Request {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** What a root does in its turns, from 0; null lets it end. */
type RootTurn = (turn: number, body: Request) => Parameters<typeof openaiTurn>[0] | null;

interface TreeRun {
  readonly figures: RunFigures;
  readonly events: readonly StoredEvent[];
  readonly fsyncsASecond: number;
}

interface StoredEvent {
  readonly session_id: string;
  readonly timestamp: string;
  readonly payload: { readonly type: string; readonly owner?: string };
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

function delegate(number: number) {
  const args = { description: `task ${number}`, prompt: 'Answer.', agent_type: 'helper' };
  return { id: `d_${number}`, name: 'delegate_subagent', args };
}

function childIn({ messages: said }: Request): string {
  return /\[subagent session (\w+)/.exec(JSON.stringify(said))?.[1] ?? '';
}

async function runTree(root: RootTurn): Promise<TreeRun> {
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
      const next = isRoot ? root(turn, request) : null;
      if (isRoot && next === null) rootEnds.resolve();
      // A reader that answers each message would be what is measured.
      if (!isRoot && JSON.stringify(request.messages).includes('<agent_message')) await rootEnds.promise;
      return openaiTurn(next ?? { text: 'Done.' });
    });
    const args = ['run', 'go', '--model', 'local/any', '--config', config, '--cwd', folder];
    const env = { ...process.env, AGENTD_HOME: home };
    const figures = await timeRun([...AGENTD, ...args], { env });
    if (figures.exitCode !== 0) throw new Error(`the run failed: ${figures.stderr}`);
    return { figures, events: await eventsIn(home), fsyncsASecond: await syncRate(folder) };
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
  return `---\ndescription: Works.\nmode: ${mode}\npermissions: { delegate: allow, message: allow }\n---\nAGENT=${id}\n`;
}

async function eventsIn(home: string): Promise<readonly StoredEvent[]> {
  const names = await readdir(home, { recursive: true });
  const logs = names.filter((name) => name.endsWith('events.jsonl'));
  const texts = await Promise.all(logs.map((name) => readFile(join(home, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredEvent),
  );
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
