import { describe, expect, it } from '@jest/globals';
import {
  MAX_RESULT_BYTES,
  type OutputDeclaration,
  type OutputStore,
  type PreparedCall,
  type ToolCompletion,
} from '@agentd/contract';
import { memoryOutputStore } from '@agentd/contract/testing';
import { callOf, fakeTool, said, turnFixture, type ToolInit } from './testing/turn-fixture.ts';

const NAMED: OutputDeclaration = { kind: 'named', streams: ['out', 'err'] };

async function runOne(tool: ToolInit, outputs?: OutputStore) {
  const fixture = turnFixture([fakeTool(tool)], outputs === undefined ? {} : { outputs });
  const { reports } = await fixture.run([callOf('tool')]);
  return { ...fixture, report: reports[0]! };
}

/** A tool that streams `texts` and then completes with `completion`. */
const streaming =
  (texts: readonly string[], completion: ToolCompletion): PreparedCall['execute'] =>
  async ({ report }) => {
    for (const text of texts) await report({ chunks: [{ text }] });
    return completion;
  };

describe('a completion', () => {
  it('supplies single output once [OUT-2] [OUT-10]', async () => {
    const { report, store } = await runOne({ execute: async () => said('a\ud800') });
    expect(report).toMatchObject({ outcome: 'completed', text: 'a\ufffd' });
    expect([...store.blobs.values()]).toEqual(['a\ufffd']);
  });

  it('supplies every declared stream once, rendered in declaration order [OUT-10]', async () => {
    const { report } = await runOne({
      output: NAMED,
      execute: async () => ({ output: { kind: 'named', streams: { err: 'E', out: 'O' } } }),
    });
    expect(report).toMatchObject({ outcome: 'completed', text: '[out]\nO\n\n[err]\nE' });
    expect(report.retained_output!.streams.map(({ name }) => name)).toEqual(['out', 'err']);
  });

  it('finalizes what was streamed [OUT-2] [OUT-10] [OUT-12]', async () => {
    const { report, live } = await runOne({
      execute: streaming(['a', 'b'], { output: { kind: 'streamed' } }),
    });
    expect(report).toMatchObject({
      outcome: 'completed',
      text: 'ab',
      retained_output: { incomplete: false },
    });
    expect(live).toHaveLength(2);
  });

  it('that supplies output again after streaming is an error, and the streamed text stays [OUT-10] [OUT-16]', async () => {
    const { report } = await runOne({ execute: streaming(['a'], said('a')) });
    expect(report).toMatchObject({
      outcome: 'failed',
      text: 'a',
      error: {
        code: 'execution_failed',
        message: 'tool failed: supplied its output again after streaming it',
      },
      retained_output: { incomplete: true },
    });
  });

  it.each<[string, OutputDeclaration, ToolCompletion['output'], string]>([
    [
      'named output for a single declaration',
      { kind: 'single' },
      { kind: 'named', streams: {} },
      'declares single',
    ],
    ['single output for named streams', NAMED, { kind: 'single', text: 'a' }, 'declares named'],
    ['a stream left out', NAMED, { kind: 'named', streams: { out: 'a' } }, 'supplied no stream "err"'],
    [
      'a stream too many',
      NAMED,
      { kind: 'named', streams: { out: 'a', err: '', log: '' } },
      'supplied the undeclared stream "log"',
    ],
  ])('with %s is an error [OUT-10]', async (...[_what, declaration, output, message]) => {
    const { report } = await runOne({ output: declaration, execute: async () => ({ output }) });
    expect(report).toMatchObject({ outcome: 'failed', error: { code: 'execution_failed' } });
    expect(report.error!.message).toContain(message);
  });

  it('with an error keeps its output as incomplete, and the error beside it [OUT-16] [ERR-1]', async () => {
    const { report } = await runOne({
      execute: streaming(['half'], {
        output: { kind: 'streamed' },
        error: { code: 'timeout', message: 'timed out' },
        metadata: { exit_code: 143 },
        display: 'shown',
        closingLine: 'timed out after 5 ms',
      }),
    });
    expect(report).toMatchObject({
      outcome: 'failed',
      text: 'half\n\ntimed out after 5 ms',
      error: { code: 'timeout', message: 'timed out' },
      metadata: { exit_code: 143 },
      display: 'shown',
      retained_output: { incomplete: true },
    });
  });

  it('that throws after streaming keeps the text too [OUT-16]', async () => {
    const { report } = await runOne({
      execute: async ({ report }) => {
        await report({ chunks: [{ text: 'half' }] });
        throw new Error('boom');
      },
    });
    expect(report).toMatchObject({
      outcome: 'failed',
      text: 'half',
      error: { message: 'tool failed: boom' },
      retained_output: { incomplete: true },
    });
  });

  it.each([
    ['', 'exit code: 0'],
    ['a', 'a\n\nexit code: 0'],
    ['a\n', 'a\n\nexit code: 0'],
  ])('puts its closing line an empty line below %j [BASH-5]', async (text, expected) => {
    const { report, store } = await runOne({
      execute: async () => ({ ...said(text), closingLine: 'exit code: 0' }),
    });
    expect(report.text).toBe(expected);
    expect([...store.blobs.values()]).toEqual([text]);
  });

  it('closes with one bounded line, whatever the tool gives [BASH-5]', async () => {
    const { report } = await runOne({
      execute: async () => ({ ...said(''), closingLine: `a\nb\x1b${'é'.repeat(1024)}` }),
    });
    expect(report.text).toMatch(/^a b é+$/);
    expect(Buffer.byteLength(report.text)).toBe(1024);
  });

  it('has a sanitized display of at most 64 KiB, and an empty one where none is given [OUT-9]', async () => {
    const { report } = await runOne({
      execute: async () => ({ ...said('a'), display: `\x1b[1m\t\n${'é'.repeat(40_000)}` }),
    });
    expect(report.display.startsWith(' [1m\t\né')).toBe(true);
    expect(Buffer.byteLength(report.display)).toBe(64 * 1024);
    expect((await runOne({})).report.display).toBe('');
  });

  it('keeps what JSON can carry of its metadata [EVT-2]', async () => {
    const metadata = { n: 1, gone: undefined, at: new Date(0), nested: [Number.NaN] };
    const { report, log } = await runOne({
      execute: async () => ({ ...said('a'), metadata }) as unknown as ToolCompletion,
    });
    expect(report.metadata).toEqual({ n: 1, at: '1970-01-01T00:00:00.000Z', nested: [null] });
    expect(log.of('tool_call_terminated')[0]!.result!.metadata).toEqual(report.metadata);
  });
});

describe('the store', () => {
  it('is given the id, declaration and limits of the call [OUT-2]', async () => {
    const requests: unknown[] = [];
    const store = memoryOutputStore();
    const outputs: OutputStore = {
      ...store,
      capture: (request) => {
        requests.push(request);
        return store.capture(request);
      },
    };
    const { report } = await runOne(
      { output: NAMED, execute: async () => ({ output: { kind: 'streamed' } }) },
      outputs,
    );
    expect(requests).toEqual([
      {
        callId: report.tool_call_id,
        declaration: NAMED,
        limits: { maxLines: 2000, maxBytes: 51_200, maxCaptureBytes: 4 * 1024 ** 3 },
      },
    ]);
  });

  it('may say that nothing was stored: the status stays [OUT-2]', async () => {
    const outputs: OutputStore = {
      capture: async () => ({
        accept: async () => undefined,
        finish: async () => ({
          text: 'a\n[full output not stored: disk full]',
          retained: null,
          release: async () => undefined,
        }),
        discard: async () => undefined,
      }),
      recover: async () => null,
      keep: () => Promise.reject(new Error('disk full')),
    };
    const { report } = await runOne({}, outputs);
    expect(report).toMatchObject({ outcome: 'completed', retained_output: null, error: null });
    expect(report.text).toContain('full output not stored');
  });

  it('that breaks its promise never to reject ends the call, not the run [SCH-9]', async () => {
    const broken = () => Promise.reject(new Error('store broke'));
    const { report, log } = await runOne({}, { capture: broken, recover: broken, keep: broken });
    expect(report).toMatchObject({ outcome: 'failed', error: { message: 'tool failed: store broke' } });
    expect(log.of('tool_call_terminated')).toHaveLength(1);
  });
});

describe('a tool that pages itself', () => {
  const pages = (init: ToolInit): ToolInit => ({ truncation: 'opt_out', ...init });

  it('gets its page back whole, without an artifact, whatever the limits [OUT-17]', async () => {
    const page = `${'line\n'.repeat(50_000)}<end>`;
    const { report, store, log } = await runOne(pages({ execute: async () => said(page) }));
    expect(report).toMatchObject({ outcome: 'completed', text: page, metadata: {}, retained_output: null });
    expect(store.blobs.size).toBe(0);
    expect(log.of('tool_call_started')[0]!.output).toBeNull();
  });

  it('may have exactly 2 MiB, streamed or not [OUT-17] [OUT-20]', async () => {
    const { report } = await runOne(pages({ execute: async () => said('é'.repeat(MAX_RESULT_BYTES / 2)) }));
    expect(report).toMatchObject({ outcome: 'completed', error: null });
    const chunk = 'x'.repeat(64 * 1024);
    const texts = Array.from({ length: 32 }, () => chunk);
    const streamed = await runOne(pages({ execute: streaming(texts, { output: { kind: 'streamed' } }) }));
    expect(streamed.report.text).toHaveLength(MAX_RESULT_BYTES);
  });

  it('fails above that and is told to ask for less, never cut [OUT-20]', async () => {
    const { report } = await runOne(
      pages({ execute: async () => said(`${'é'.repeat(MAX_RESULT_BYTES / 2)}x`) }),
    );
    expect(report).toMatchObject({ outcome: 'failed', text: '', error: { code: 'resource_limit' } });
    expect(report.error!.message).toBe(
      'the page has 2097153 bytes, over the limit of 2097152; ask again with a smaller limit',
    );
  });

  it('does not hide its own error behind the size [OUT-20]', async () => {
    const { report } = await runOne(
      pages({
        execute: async () => ({
          ...said('x'.repeat(MAX_RESULT_BYTES + 1)),
          error: { code: 'stale', message: 'old' },
        }),
      }),
    );
    expect(report).toMatchObject({ outcome: 'failed', text: '', error: { code: 'stale' } });
  });
});
