import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isAgentdError, systemClock, type CallReport, type Clock, type ModelClient } from '@agentd/contract';
import { flush, manualClock } from '@agentd/contract/testing';
import { createModelGateway } from './gateway.ts';
import { callsOf, collect, failureOf, request, textOf } from './testing/bench.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentd-script-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const file = (): string => join(folder, 'script.yaml');

async function open(script: string, clock: Clock = systemClock): Promise<ModelClient> {
  await writeFile(file(), script);
  return createModelGateway({ providers: {}, environment: {}, clock }).open(`scripted:${file()}`);
}

function report(fields: Partial<CallReport> = {}): CallReport {
  return {
    outcome: 'completed',
    error: null,
    text: 'a\nb\n',
    metadata: {},
    display: '',
    attachments: [],
    retained_output: null,
    session_id: 's1',
    run_id: 'r1',
    tool_call_id: 't1',
    ...fields,
  };
}

/** A request of a session whose turns made these calls. */
const after = (...turns: CallReport[][]) => request({ session: { id: 's1', agent: 'default', turns } });

const LISTING = `agents:
  default:
    - say: Looking around.
      calls:
        - { tool: bash, args: { command: ls }, as: listing }
`;

describe('a script', () => {
  it('plays text and calls of the turn [SCR-1]', async () => {
    const client = await open(`${LISTING}        - { tool: read, raw_args: '{"path":', as: other }\n`);
    const parts = await collect(client);
    expect(textOf(parts)).toBe('Looking around.');
    expect(callsOf(parts)).toEqual([
      { type: 'tool-call', providerCallId: 'script_0_0', tool: 'bash', input: '{"command":"ls"}' },
      { type: 'tool-call', providerCallId: 'script_0_1', tool: 'read', input: '{"path":' },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls', usage: { input_tokens: 0 } });
  });

  it('describes its model, with defaults [SCR-1]', async () => {
    expect((await open('agents: {}')).info).toEqual({
      id: `scripted:${file()}`,
      provider: 'scripted',
      model: file(),
      family: 'openai-chat',
      input: ['text'],
      toolCalling: true,
      contextTokens: 200_000,
      outputTokens: 8192,
    });
    const head = 'input: [text, image]\ncontext_tokens: 5000\nfamily: anthropic\nagents: {}';
    expect((await open(head)).info).toMatchObject({
      input: ['text', 'image'],
      contextTokens: 5000,
      family: 'anthropic',
    });
  });

  it('reports the usage it names, zeros beside it [SCR-1]', async () => {
    const client = await open('agents:\n  default:\n    - { say: x, usage: { input_tokens: 7 } }');
    expect((await collect(client)).at(-1)).toMatchObject({ usage: { input_tokens: 7, output_tokens: 0 } });
  });

  it('waits by the clock, and an abort ends the wait [SCR-1]', async () => {
    const clock = manualClock();
    const client = await open('agents:\n  default:\n    - { say: late, delay_ms: 60000 }', clock);
    const late = collect(client);
    const abort = new AbortController();
    const left = failureOf(client, request(), abort.signal);
    await flush();
    expect(clock.pending()).toBe(2);
    abort.abort('enough');
    expect((await left).error).toBe('enough');
    clock.advance(60_000);
    expect(textOf(await late)).toBe('late');
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ['an unknown key', 'agents:\n  default:\n    - say: x\n      cals: []\n', 4, /cals/],
    [
      'an unknown key of a call',
      `${LISTING}        - { tool: a, arg: {} }\n`,
      6,
      /agents\.default\[0\]\.calls\[1\].*arg/,
    ],
    ['a call without a tool', `${LISTING}        - { args: {} }\n`, 6, /tool/],
    ['args and raw_args', `${LISTING}        - { tool: a, args: {}, raw_args: x }\n`, 6, /not both/],
    ['a name given twice', `${LISTING}        - { tool: a, as: listing }\n`, 6, /listing is given twice/],
    ['a name that is taken', `${LISTING}        - { tool: a, as: input }\n`, 6, /input/],
    ['a wrong kind of error', 'agents:\n  default:\n    - error: { kind: nope }\n', 3, /kind/],
    ['times 0', 'agents:\n  default:\n    - error:\n        kind: cut\n        times: 0\n', 5, /times/],
    ['no agents', 'input: [text]\n', 1, /agents/],
    ['an empty file', '', 1, /object|expected/i],
    ['YAML that does not parse', 'agents:\n  default: [\n', 3, /./],
    ['an alias without an anchor', 'agents: *nowhere\n', 1, /nowhere/],
    ['a key twice', 'agents: {}\nagents: {}\n', 2, /unique/],
  ])('is strict: %s fails with file and line [SCR-1]', async (...[, script, line, problem]) => {
    const error: unknown = await open(script).catch((thrown: unknown) => thrown);
    expect(isAgentdError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'GATEWAY_SCRIPT_INVALID' });
    const { message } = error as Error;
    expect(message.slice(0, message.indexOf(': '))).toBe(`${file()}:${line}`);
    expect(message).toMatch(problem);
    expect(message).not.toContain('\n');
  });

  it('that is not there is named [SCR-1]', async () => {
    const gateway = createModelGateway({ providers: {}, environment: {}, clock: systemClock });
    await expect(gateway.open('scripted:/nowhere/demo.yaml')).rejects.toMatchObject({
      code: 'GATEWAY_SCRIPT_UNREADABLE',
      message: expect.stringContaining('/nowhere/demo.yaml'),
    });
  });
});

describe('the turn that is played', () => {
  const SCRIPT = 'agents:\n  default: [{ say: one }, { say: two }]\n  explore: [{ say: child one }]\n';

  it('is the count of committed turns, whatever was played before [SCR-2]', async () => {
    const client = await open(SCRIPT);
    expect(textOf(await collect(client, after([])))).toBe('two');
    expect(textOf(await collect(client, after()))).toBe('one');
    expect(textOf(await collect(client, after()))).toBe('one');
  });

  it('comes from the list of the session’s agent [SCR-2]', async () => {
    const child = request({ session: { id: 's2', agent: 'explore', turns: [] } });
    expect(textOf(await collect(await open(SCRIPT), child))).toBe('child one');
  });

  it('is "(end of script)" past the end [SCR-2]', async () => {
    const parts = await collect(await open(SCRIPT), after([], [], []));
    expect(textOf(parts)).toBe('(end of script)');
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it('fails for an agent without a list, and names those that have one [SCR-2]', async () => {
    const stranger = request({ session: { id: 's3', agent: 'toString', turns: [] } });
    const { error } = await failureOf(await open(SCRIPT), stranger);
    expect(error).toMatchObject({
      code: 'MODEL_REFUSED',
      message: expect.stringMatching(/toString.*default, explore/),
    });
  });
});

describe('a scripted error', () => {
  it.each([
    ['rate_limit', 'MODEL_RATE_LIMIT'],
    ['server', 'MODEL_UNAVAILABLE'],
    ['overflow', 'MODEL_CONTEXT_OVERFLOW'],
    ['auth', 'MODEL_AUTH'],
  ])('%s is thrown before any part [SCR-1]', async (kind, code) => {
    const client = await open(`agents:\n  default:\n    - { say: at last, error: { kind: ${kind} } }`);
    const { error, parts } = await failureOf(client);
    expect(error).toMatchObject({ code });
    expect(parts).toEqual([]);
    expect(textOf(await collect(client))).toBe('at last');
  });

  it('cut breaks off after some of the text, which is whole the next time [SCR-1]', async () => {
    const client = await open('agents:\n  default:\n    - { say: one two three four, error: { kind: cut } }');
    const { error, parts } = await failureOf(client);
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(textOf(parts)).toBe('one two');
    expect(textOf(await collect(client))).toBe('one two three four');
  });

  it('hits the first `times` attempts at its turn, in each session, through every client of the gateway [SCR-1]', async () => {
    await writeFile(
      file(),
      'agents:\n  default:\n    - { say: ok, error: { kind: rate_limit, times: 2, retry_after_ms: 40 } }\n    - say: next',
    );
    const gateway = createModelGateway({ providers: {}, environment: {}, clock: systemClock });
    const open = (): Promise<ModelClient> => gateway.open(`scripted:${file()}`);
    const expected = { code: 'MODEL_RATE_LIMIT', details: { retryAfterMs: 40, status: 429 } };
    expect((await failureOf(await open())).error).toMatchObject(expected);
    expect((await failureOf(await open())).error).toMatchObject(expected);
    expect(textOf(await collect(await open()))).toBe('ok');
    expect(textOf(await collect(await open(), after([])))).toBe('next');
    const other = request({ session: { id: 's2', agent: 'default', turns: [] } });
    expect((await failureOf(await open(), other)).error).toMatchObject(expected);
  });
});

describe('templates', () => {
  const play = async (turn: string, ...calls: CallReport[]) =>
    collect(await open(`${LISTING}    - ${turn}\n`), after(calls));
  const said = async (text: string, ...calls: CallReport[]): Promise<string> =>
    textOf(await play(`say: ${JSON.stringify(text)}`, ...calls));
  const argument = async (text: string, ...calls: CallReport[]): Promise<unknown> => {
    const parts = await play(
      `calls: [{ tool: t, args: { deep: [{ x: ${JSON.stringify(text)} }] } }]`,
      ...calls,
    );
    return (JSON.parse(callsOf(parts)[0]?.input ?? '') as { deep: { x: unknown }[] }).deep[0]?.x;
  };

  const digest = 'ab'.repeat(32);
  const rich = report({
    text: `out\n[Full output: artifact://${digest}/stdout. Read it.]`,
    metadata: { handle: 'explore_1', size: 3, list: ['p', 'q'] },
  });

  it.each<[string, string]>([
    ['{{ listing.text | lines }} lines', '2 lines'],
    ['<{{listing.text|trim}}>', '<a\nb>'],
    ['{{ listing.text | trim | json }}', '"a\\nb"'],
    ['{{ listing.outcome }} of {{ input }}', 'completed of Hello'],
    ['{{ listing.retained_output }}', 'null'],
    ['no {{ template', 'no {{ template'],
  ])('fill say in: %s [SCR-3]', async (text, expected) => {
    expect(await said(text, report())).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['{{ listing.metadata.size }}', 3],
    ['{{ listing.metadata }}', { handle: 'explore_1', size: 3, list: ['p', 'q'] }],
    ['{{ listing.metadata.list.1 }}', 'q'],
    ['{{ listing.error }}', null],
    ['{{ listing.text | lines }}', 2],
    ['{{ listing.text | uri }}', `artifact://${digest}/stdout`],
    ['{{ listing | uri }}', `artifact://${digest}/stdout`],
    ['{{ listing.metadata.size }} bytes', '3 bytes'],
    ['{{ listing.metadata.size }}{{ listing.metadata.size }}', '33'],
    ['{{ listing.metadata | json }}', '{"handle":"explore_1","size":3,"list":["p","q"]}'],
  ])('keep the type where a string is one template: %s [SCR-3]', async (text, expected) => {
    expect(await argument(text, rich)).toEqual(expected);
  });

  it('fill raw_args in as text [SCR-3]', async () => {
    const parts = await play(`calls: [{ tool: t, raw_args: '{"n": {{ listing.metadata.size }},' }]`, rich);
    expect(callsOf(parts)).toMatchObject([{ input: '{"n": 3,' }]);
  });

  it('see the text as the model saw it: error line and next_offset after it [SCR-3]', async () => {
    const failed = report({
      text: 'partial',
      outcome: 'failed',
      error: { code: 'timeout', message: 'took too long' },
      metadata: { next_offset: 20 },
    });
    expect(await said('{{ listing.text }}', failed)).toBe(
      'partial\nerror: timeout: took too long\n[next_offset: 20]',
    );
  });

  it('take the last user text for input [SCR-3]', async () => {
    const client = await open('agents:\n  default:\n    - say: "{{ input }}!"');
    const user = (...texts: string[]) => ({
      role: 'user' as const,
      content: texts.map((text) => ({ type: 'text' as const, text })),
    });
    const asked = request({ messages: [user('old'), user('new', 'er')] });
    expect(textOf(await collect(client, asked))).toBe('new\ner!');
  });

  it.each([
    ['an unknown name', '{{ nothing.text }}', /"nothing" is not known here; known: input, listing/],
    ['a name of a later turn', '{{ late.text }}', /"late" is not known here/],
    ['an unknown path', '{{ listing.metadata.handel }}', /leads nowhere at "handel"; there are: handle/],
    ['an inherited path', '{{ listing.constructor }}', /leads nowhere/],
    [
      'an unknown filter',
      '{{ listing.text | upper }}',
      /"upper" is no filter; filters: lines, trim, json, uri/,
    ],
    ['a filter on the wrong type', '{{ listing.metadata | lines }}', /takes text/],
    ['no artifact', '{{ listing.metadata.handle | uri }}', /no artifact URI/],
    ['an empty template', '{{ }}', /"" is not known here/],
  ])('fail the run and name the line: %s [SCR-3]', async (_, template, problem) => {
    const script = `${LISTING}    - say: |\n        first line\n        then ${template}\n      calls: [{ tool: x, as: late }]\n`;
    const { error, parts } = await failureOf(await open(script), after([rich]));
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ code: 'MODEL_REFUSED' });
    expect((error as Error).message.startsWith(`${file()}:8: `)).toBe(true);
    expect((error as Error).message).toMatch(problem);
  });

  it('name the line of a problem in an argument [SCR-3]', async () => {
    const script = `${LISTING}    - calls:\n        - tool: t\n          args:\n            a: fine\n            b: "{{ gone }}"\n`;
    const { error } = await failureOf(await open(script), after([rich]));
    expect((error as Error).message).toMatch(/:10: \{\{ gone \}\}: /);
  });
});

it('an abort in the middle of a scripted turn ends it with the reason', async () => {
  const client = await open('agents:\n  default:\n    - say: one two three');
  const abort = new AbortController();
  const parts = client.stream(request(), abort.signal)[Symbol.asyncIterator]();
  expect((await parts.next()).value).toMatchObject({ text: 'one' });
  abort.abort('enough');
  await expect(parts.next()).rejects.toBe('enough');
});
