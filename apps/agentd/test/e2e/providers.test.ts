import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  anthropicTurn,
  chunked,
  cutAfter,
  endAfter,
  hangAfter,
  httpError,
  openaiTurn,
  startModelServer,
  type CannedReply,
  type ModelServer,
} from '@agentd/model-gateway/testing';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgentd, type Ended } from './agentd-process.ts';

interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}

interface Wire {
  readonly name: string;
  readonly adaptor: string;
  readonly turn: (turn: Turn) => CannedReply;
  /** Where the request says what the tool gave. */
  readonly resultOf: (body: unknown) => string;
}

const wires: readonly Wire[] = [
  {
    name: 'an OpenAI-compatible endpoint',
    adaptor: 'openai-compatible',
    turn: openaiTurn,
    resultOf: (body) => {
      const { messages } = body as { messages: { role: string; content: string }[] };
      return messages.findLast(({ role }) => role === 'tool')?.content ?? '';
    },
  },
  {
    name: 'an Anthropic endpoint',
    adaptor: 'anthropic',
    turn: anthropicTurn,
    resultOf: (body) =>
      JSON.stringify((body as { messages: { content: unknown }[] }).messages.at(-1)?.content),
  },
];

const LISTING = {
  text: 'Ein Blick — ein „Verzeichnis“ 📁.',
  calls: [{ id: 'call_1', name: 'read', args: { filePath: '.' } }],
};
const ANSWER = { text: 'Es gibt genau eine Datei: größe.txt 🙂' };

describe.each(wires)('run against $name', ({ adaptor, turn, resultOf }) => {
  let server: ModelServer;
  let folder: string;

  beforeEach(async () => {
    server = await startModelServer();
    folder = await mkdtemp(join(tmpdir(), 'agentd-wire-'));
    await writeFile(join(folder, 'größe.txt'), '');
    await writeFile(
      join(folder, 'config.toml'),
      [
        '[model_retry]\nstandard = 2\noverload = 2\nceiling_ms = 50',
        `[providers.local]\nadaptor = "${adaptor}"\nbase_url = "${server.url}/v1"\napi_key = "\${env:WIRE_KEY}"`,
      ].join('\n'),
    );
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...flags: readonly string[]): Promise<Ended> =>
    runAgentd(
      ['run', 'What is here?', '--model', 'local/any', '--config', join(folder, 'config.toml'), ...flags],
      { home: join(folder, '.home'), cwd: folder, env: { WIRE_KEY: 'sk-secret-0123456789' } },
    );
  const summaryOf = ({ stdout }: Ended) =>
    JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;

  it.each([[1], [3, 1, 7], [1000, 1]])(
    'reads a stream that arrives in pieces of %j bytes [SES-5] [SES-9]',
    async (...sizes) => {
      server.reply(chunked(turn(LISTING), ...sizes), chunked(turn(ANSWER), ...sizes));
      const { code, stdout } = await run();
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${ANSWER.text}\n` });
      expect(resultOf(server.requests[1]?.body)).toContain('größe.txt');
    },
  );

  it.each<[string, (whole: CannedReply) => CannedReply]>([
    ['a reset in mid-stream', (whole) => cutAfter(whole, -200)],
    ['a clean end before the turn was whole', (whole) => endAfter(whole, -200)],
    ['a reset before the first byte', (whole) => cutAfter(whole, 0)],
    [
      '429 with a time to wait',
      () => httpError(429, { error: { message: 'slow down' } }, { 'retry-after-ms': '20' }),
    ],
    ['500', () => httpError(500, { error: { message: 'oops' } })],
    ['503', () => httpError(503, 'overloaded')],
  ])('tries again after %s, and nothing of the attempt stays [SES-9]', async (_what, broken) => {
    server.reply(broken(turn({ ...LISTING, text: 'ABANDONED' })), turn(LISTING), turn(ANSWER));
    const ended = await run('--output', 'json');
    expect(summaryOf(ended)).toMatchObject({
      status: 'completed',
      turns: 2,
      tool_calls: 1,
      final_text: ANSWER.text,
    });
    expect(server.requests).toHaveLength(3);
    expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain('ABANDONED');
    expect(ended.stdout).toContain('"attempt_abandoned"');
  });

  it('gives up after its retries and says why, with the session kept for later [SES-9] [CLI-3]', async () => {
    server.reply(() => httpError(500, { error: { message: 'the backend is gone' } }));
    const failed = await run('--output', 'json');
    const summary = summaryOf(failed);
    expect(failed.code).toBe(1);
    expect(summary).toMatchObject({ status: 'failed', exit_code: 1, error: { code: 'MODEL_UNAVAILABLE' } });
    expect(server.requests).toHaveLength(3);
    server.reply(() => turn(ANSWER));
    const again = await run('--session', String(summary['session_id']));
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: `${ANSWER.text}\n` });
  });

  it('does not try again when the key is refused, and never shows it [SES-9] [CLI-3]', async () => {
    server.reply(() => httpError(401, { error: { type: 'authentication_error', message: 'invalid key' } }));
    const { code, stdout, stderr } = await run();
    expect({ code, stdout, requests: server.requests.length }).toEqual({ code: 1, stdout: '', requests: 1 });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('sk-secret');
  });

  it('ends a stalled stream by --timeout [CLI-3]', async () => {
    server.reply(hangAfter(turn(LISTING), 100));
    const ended = await run('--timeout', '1', '--output', 'json');
    expect(ended.code).toBe(4);
    expect(summaryOf(ended)).toMatchObject({ status: 'cancelled', reason: 'timeout' });
    expect(await server.requests[0]?.finished).toBe(false);
  });

  it('keeps the key out of everything it stores', async () => {
    server.reply(turn(LISTING), turn(ANSWER));
    const ended = await run('--output', 'json');
    const events = ended.stdout.includes('sk-secret');
    const config = await readFile(join(folder, 'config.toml'), 'utf8');
    expect([events, config.includes('sk-secret')]).toEqual([false, false]);
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('sk-secret-0123456789');
  });
});
