import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { httpError, openaiTurn, startModelServer, type ModelServer } from '@agentd/model-gateway/testing';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgentd, type Ended } from './agentd-process.ts';
import { conversationProblems } from './conversation.ts';
import { eventsOnDisk, sessionIds } from './home-folder.ts';

const CONTEXT_TOKENS = 16_000;
const TURNS = 30;

interface WireBody {
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

const isSummary = (body: unknown): boolean => (body as WireBody).tools === undefined;
const artifactsIn = (body: unknown): readonly string[] =>
  [...JSON.stringify(body).matchAll(/artifact:\/\/[0-9a-f]{64}(?:\/[a-z]+)?/g)].map(([uri]) => uri);
const tooLong = httpError(400, {
  error: { message: 'maximum context length exceeded', code: 'context_length_exceeded' },
});

describe('a session that outgrows the context of its model', () => {
  let server: ModelServer;
  let folder: string;

  beforeEach(async () => {
    server = await startModelServer();
    folder = await mkdtemp(join(tmpdir(), 'agentd-context-'));
    await mkdir(join(folder, 'work'));
    await writeFile(
      join(folder, 'config.toml'),
      [
        `[providers.local]\nadaptor = "openai-compatible"\nbase_url = "${server.url}/v1"`,
        `[providers.local.models."small"]\ncontext_tokens = ${CONTEXT_TOKENS}\noutput_tokens = 2000`,
      ].join('\n'),
    );
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (prompt: string, ...flags: readonly string[]): Promise<Ended> =>
    runAgentd(
      [
        'run',
        prompt,
        '--model',
        'local/small',
        '--config',
        join(folder, 'config.toml'),
        '--mode',
        'yolo',
        ...flags,
      ],
      { home: join(folder, 'home'), cwd: join(folder, 'work') },
    );
  const bash = (id: string, command: string) =>
    openaiTurn({ calls: [{ id, name: 'bash', args: { command } }] });

  it('goes on for thirty turns of bulky output, and what was elided is read by its artifact [SES-8] [SES-9] [ART-13] [MED-9]', async () => {
    let turn = 0;
    let refusals = 0;
    server.reply(({ body }) => {
      // A provider that keeps to its context, by the same rule of thumb.
      if (JSON.stringify(body).length / 4 > CONTEXT_TOKENS) return ((refusals += 1), tooLong);
      if (isSummary(body))
        return openaiTurn({ text: `Goal: count. Outputs: ${artifactsIn(body).slice(0, 3).join(' ')}` });
      turn += 1;
      if (turn <= TURNS) return bash(`call_${turn}`, `seq -f "turn ${turn} line %.0f" 1 700`);
      const [uri = 'none'] = artifactsIn(body).toReversed();
      if (turn === TURNS + 1)
        return openaiTurn({ calls: [{ id: 'back', name: 'read', args: { filePath: uri, offset: 600 } }] });
      return openaiTurn({ text: 'all counted' });
    });
    const { code, stdout, stderr } = await run('Count, and keep every number.', '--max-turns', '40');
    expect({ code, stdout, stderr: code === 0 ? '' : stderr }).toEqual({
      code: 0,
      stdout: 'all counted\n',
      stderr: '',
    });
    expect(refusals).toBe(0);
    expect(turn).toBe(TURNS + 2);

    const bodies = server.requests.map(({ body }) => body);
    expect(bodies.flatMap(conversationProblems)).toEqual([]);
    const read = (bodies.at(-1) as WireBody).messages.at(-1);
    expect(read?.content).toMatch(/^turn \d+ line 601\n[^]*line 700\n/);
    expect(JSON.stringify(bodies.at(-1))).toContain('Count, and keep every number.');

    const [id = ''] = await sessionIds(join(folder, 'home'));
    const events = await eventsOnDisk(join(folder, 'home'), id);
    const types = events.map(({ payload }) => payload.type);
    expect(types.filter((type) => type === 'tool_output_elided').length).toBeGreaterThan(10);
    expect(types).toContain('context_checkpoint_committed');
    // The log has all of it still.
    const results = events.filter(({ payload }) => payload.type === 'tool_call_terminated');
    expect(results).toHaveLength(TURNS + 1);
    for (const [index, { payload }] of results.slice(0, TURNS).entries())
      expect((payload['result'] as { text: string }).text).toContain(`turn ${index + 1} line 1\n`);

    // Another process makes the same of the log.
    server.reply(openaiTurn({ text: 'gone on' }));
    expect(await run('go on', '--session', id)).toMatchObject({ code: 0, stdout: 'gone on\n' });
    const [before, after] = server.requests.slice(-2).map(({ body }) => (body as WireBody).messages);
    expect(after?.slice(0, before?.length)).toEqual(before);
  });

  it('goes on after a provider refused a request for its size, once [SES-9]', async () => {
    let refusals = 0;
    server.reply(({ body }, index) => {
      if (isSummary(body)) return openaiTurn({ text: 'Goal: look. Next: say done.' });
      if (index < 3) return bash(`call_${index}`, `echo look ${index}`);
      if (refusals === 0) return ((refusals += 1), tooLong);
      return openaiTurn({ text: JSON.stringify(body).includes('Next: say done.') ? 'done' : 'lost' });
    });
    expect(await run('Look three times.')).toMatchObject({ code: 0, stdout: 'done\n' });
    server.reply(() => tooLong);
    const [id = ''] = await sessionIds(join(folder, 'home'));
    const { code, stderr } = await run('go on', '--session', id);
    expect(code).toBe(1);
    expect(stderr).toContain('no longer fits the context of local/small (16000 tokens)');
  });
});
