// An MCP server by hand, so that it can break every rule. Run as: node odd-server.ts '<OddSettings as JSON>'.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface OddSettings {
  /** Members of `tools/list`, whatever they are; the calls below work whether listed or not. */
  readonly tools?: readonly unknown[];
  readonly pageSize?: number;
  /** What it does in place of an answer to the first message of a phase. */
  readonly silentAt?: 'initialize' | 'tools/list' | 'tools/call';
  readonly exitAt?: 'start' | 'initialize' | 'tools/list' | 'tools/call';
  readonly stderr?: string;
  /** Written to stdout before everything, as it is. */
  readonly noise?: string;
  /** Each start and each request is noted there, one line each. */
  readonly journal?: string;
  /** After a `list_changed` the list is this. */
  readonly toolsLater?: readonly unknown[];
}

const settings = JSON.parse(process.argv[2] ?? '{}') as OddSettings;
let isLater = false;

type Params = { readonly [key: string]: unknown };
type Message = { readonly id?: number; readonly method?: string; readonly params?: Params };

const note = (text: string): void => {
  if (settings.journal !== undefined) appendFileSync(settings.journal, `${text}\n`);
};
const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const exit = (code: number): void => {
  if (settings.stderr !== undefined) process.stderr.write(`${settings.stderr}\n`);
  process.exitCode = code;
  setImmediate(() => process.exit(code));
};

note('start');
if (settings.noise !== undefined) process.stdout.write(settings.noise);
if (settings.exitAt === 'start') exit(3);
else createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line) as Message));

function take({ id, method = '', params = {} }: Message): void {
  note(method === 'tools/call' ? `${method} ${JSON.stringify(params)}` : `${method}${detail(params)}`);
  if (settings.silentAt === method) return;
  if (settings.exitAt === method) return exit(3);
  if (id !== undefined) answer(id, method, params);
}

function detail(params: Params): string {
  const known = params['requestId'] ?? params['cursor'];
  return known === undefined ? '' : ` ${known as string | number}`;
}

function answer(id: number, method: string, params: Params): void {
  switch (method) {
    case 'initialize': {
      const capabilities = { tools: { listChanged: true }, resources: {} };
      const serverInfo = { name: 'odd', version: '1' };
      return write({ id, result: { protocolVersion: params['protocolVersion'], capabilities, serverInfo } });
    }
    case 'ping':
      return write({ id, result: {} });
    case 'tools/list':
      return write({ id, result: page(params['cursor']) });
    case 'resources/read':
      return write({
        id,
        result: { contents: [{ uri: params['uri'], text: `content of ${String(params['uri'])}` }] },
      });
    case 'tools/call':
      return call(id, params);
    default:
      return write({ id, error: { code: -32_601, message: `no ${method}` } });
  }
}

function page(cursor: unknown): object {
  const all = (isLater ? settings.toolsLater : settings.tools) ?? [];
  const from = Number(cursor ?? 0);
  const to = from + (settings.pageSize ?? all.length);
  return { tools: all.slice(from, to), ...(to < all.length ? { nextCursor: String(to) } : {}) };
}

const said = (text: string) => ({ content: [{ type: 'text', text }] });

interface Call {
  readonly id: number;
  readonly args: Params;
  readonly token: unknown;
  readonly result: (value: object) => void;
}

/** What each tool does; its arguments steer it. */
const TOOLS: Readonly<Record<string, (call: Call) => void>> = {
  /** Any result, as it is. */
  give: ({ args, result }) => result(args['result'] as object),
  die: () => exit(7),
  hang: () => undefined,
  slow: ({ args, result }) => void setTimeout(() => result(said('at last')), Number(args['ms'])),
  /** Notes when each call began and ended. */
  busy: ({ args, result }) => {
    note(`begin ${Number(args['n'])}`);
    setTimeout(() => {
      note(`end ${Number(args['n'])}`);
      result(said('done'));
    }, 20);
  },
  progress,
  big: ({ args, result }) => result(said('x'.repeat(Number(args['bytes'])))),
  /** Notices, and from now on another list. */
  changed: ({ args, result }) => {
    isLater = true;
    for (let n = 0; n < Number(args['notices']); n += 1)
      write({ method: 'notifications/tools/list_changed' });
    result(said('changed'));
  },
  env: ({ result }) => result(said(JSON.stringify(process.env))),
  helper: ({ result }) => {
    const helper = spawn('sleep', ['1000'], { stdio: 'ignore' });
    result(said(String(helper.pid)));
  },
};

function call(id: number, { name, arguments: given, _meta }: Params): void {
  const tool = TOOLS[name as string];
  const result = (value: object): void => write({ id, result: value });
  const token = (_meta as Params | undefined)?.['progressToken'];
  if (tool === undefined) result(said(JSON.stringify({ tool: name, arguments: given })));
  else tool({ id, args: (given ?? {}) as Params, token, result });
}

/** Two words that concern nobody, `steps` that do, and after `waits` ms each the next. */
function progress({ args, token, result }: Call): void {
  const tell = (progressToken: unknown, step: number): void => {
    const params = { progressToken, progress: step, total: Number(args['steps']), message: `step ${step}` };
    write({ method: 'notifications/progress', params });
  };
  tell('nobody', 1);
  let step = 0;
  const timer = setInterval(() => {
    step += 1;
    tell(args['foreign'] === true ? 'nobody' : token, step);
    if (step < Number(args['steps'])) return;
    clearInterval(timer);
    setTimeout(() => result(said('done')), 20);
  }, Number(args['every']));
}
