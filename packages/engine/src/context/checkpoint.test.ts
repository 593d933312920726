import { describe, expect, it } from '@jest/globals';
import { modelError, type ModelRequest } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { payloadsOf, runInit, runToEnd, until } from '../testing/engine-harness.ts';
import {
  pressureHarness,
  prints,
  printTool,
  resultsOf,
  textsOf,
  writes,
} from './testing/pressure-harness.ts';

const overflow = modelError('MODEL_CONTEXT_OVERFLOW', 'prompt is too long', { status: 400 });

describe('a checkpoint', () => {
  const small = prints(12, 5000);

  it('P3 stands in for the older turns; later requests begin with it and the newest turns [SES-8] [EVT-2]', async () => {
    const { create, turns, summaries, shown } = pressureHarness({
      answer: small,
      summary: writes('Everything is well.', { input_tokens: 900, output_tokens: 70 }),
      tools: [printTool],
    });
    const session = await create();
    const end = await runToEnd(session, { input: 'Print, and never use tabs.' });
    expect(end).toMatchObject({ status: 'completed', turns: 13, finalText: 'done' });
    const [checkpoint] = payloadsOf(shown, 'context_checkpoint_committed');
    expect(checkpoint).toMatchObject({
      summary: 'Everything is well.',
      said: ['Print, and never use tabs.'],
      model: 'test/a',
      reason: 'size',
    });
    const after = turns.find(({ messages }) => textsOf(messages[0]).includes('<context_checkpoint>'))!;
    expect(textsOf(after.messages[0])).toContain('Everything is well.');
    expect(textsOf(after.messages[0])).toContain('Print, and never use tabs.');
    expect(after.messages[1]).toMatchObject({ role: 'assistant' });
    expect(resultsOf(after).length).toBeLessThan(5);
    for (const request of [...turns, ...summaries]) assertValidRequest(request);
    // The question for the summary is paid for, and is no turn.
    expect(end.usage.total).toMatchObject({ input_tokens: 900, output_tokens: 70 });
    expect(payloadsOf(shown, 'model_turn_committed')).toHaveLength(13);
  });

  it('asks for a summary with one message that fits, without tools and files [SES-8] [MED-9]', async () => {
    const { create, summaries, live } = pressureHarness({ answer: small, tools: [printTool] });
    await runToEnd(await create());
    const [{ messages, tools, system, session, maxOutputTokens } = {} as ModelRequest] = summaries;
    expect(messages).toHaveLength(1);
    expect(tools).toEqual([]);
    expect(session.agent).toBe('compaction');
    expect(maxOutputTokens).toBe(1575);
    const text = textsOf(messages[0]);
    expect(text).toContain('USER: hello');
    expect(text).toContain('CALL print {"label":"label-0","bytes":5000}');
    expect(text).toMatch(/RESULT \(completed\): label-0 says/);
    expect(Buffer.byteLength(system + text) / 4).toBeLessThan(18_000);
    expect(JSON.stringify(live)).not.toContain('SUMMARY');
  });

  it('takes the earlier one over, and is made again when the context fills again [SES-8]', async () => {
    const { create, summaries, turns, shown } = pressureHarness({
      answer: prints(40, 5000),
      summary: (_request, count) => turnParts(`Summary ${count}.`),
      tools: [printTool],
    });
    expect(await runToEnd(await create(), { maxTurns: 50 })).toMatchObject({
      status: 'completed',
      turns: 41,
    });
    const checkpoints = payloadsOf(shown, 'context_checkpoint_committed');
    expect(checkpoints.length).toBeGreaterThan(2);
    expect(textsOf(summaries[1]?.messages[0])).toContain('<earlier_summary>\nSummary 0.');
    expect(textsOf(summaries[1]?.messages[0])).not.toContain('"label-0"');
    expect(textsOf(turns.at(-1)!.messages[0])).not.toContain('Summary 0.');
    for (const request of turns) assertValidRequest(request);
  });

  it.each([
    ['the model fails', () => Promise.reject(modelError('MODEL_REFUSED', 'no'))],
    ['the model says nothing', () => turnParts(' \n')],
    ['the model calls a tool instead', () => turnParts('', [{ id: 'x', tool: 'print', args: {} }])],
    ['even that request is too large', () => Promise.reject(overflow)],
  ] as const)('is made of the turns themselves where %s [SES-8]', async (_, summary) => {
    const { create, shown, turns } = pressureHarness({ answer: small, summary, tools: [printTool] });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed', turns: 13 });
    const [checkpoint] = payloadsOf(shown, 'context_checkpoint_committed');
    expect(checkpoint?.model).toBeNull();
    expect(checkpoint?.summary).toContain('CALL print {"label":"label-4","bytes":5000}');
    expect(Buffer.byteLength(checkpoint?.summary ?? '')).toBeLessThanOrEqual(8000);
    assertValidRequest(turns.at(-1)!);
  });

  it.each(['MODEL_UNAVAILABLE', 'MODEL_AUTH'] as const)(
    'is not made where the provider is out of reach (%s): the log stays as it was, and the request tells [SES-8] [SES-9]',
    async (code) => {
      let isOut = true;
      const { create, clock, shown, summaries } = pressureHarness({
        answer: (request, turn, signal) => {
          if (isOut && summaries.length > 0) throw modelError(code, 'out of reach');
          return small(request, turn, signal);
        },
        summary: () => {
          if (isOut) throw modelError(code, 'out of reach');
          return turnParts('Back.');
        },
        tools: [printTool],
      });
      const session = await create();
      const { done } = await session.startRun(runInit());
      let isDone = false;
      void done.then(() => (isDone = true));
      await until(() => {
        if (clock.pending() > 1) clock.advance(10_000);
        return isDone;
      });
      expect(await done).toMatchObject({ status: 'failed', error: { code, message: 'out of reach' } });
      expect(payloadsOf(shown, 'context_checkpoint_committed')).toEqual([]);
      isOut = false;
      await runToEnd(session, { clientRunId: 'run-2', input: 'go on' });
      expect(payloadsOf(shown, 'context_checkpoint_committed')).toMatchObject([{ summary: 'Back.' }]);
    },
  );

  it('leaves signed reasoning of the newest turns as it was, byte by byte [field I12] [SES-8]', async () => {
    const signed = (turn: number) => ({
      type: 'reasoning-delta' as const,
      id: 'r',
      text: `thought ${turn} \u0000`,
      providerData: { signature: `s${turn}` },
    });
    const { create, turns } = pressureHarness({
      answer: async (request, turn, signal) => [signed(turn), ...(await small(request, turn, signal))],
      tools: [printTool],
    });
    await runToEnd(await create());
    const after = turns.filter(({ messages }) => textsOf(messages[0]).includes('<context_checkpoint>'));
    expect(after.length).toBeGreaterThan(0);
    for (const { messages } of after) {
      const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
      for (const part of parts.filter(({ type }) => type === 'reasoning')) {
        const turn = /thought (\d+)/.exec(part.type === 'reasoning' ? part.text : '')?.[1];
        expect(part).toEqual({
          type: 'reasoning',
          text: `thought ${turn} \u0000`,
          provider_data: { signature: `s${turn}` },
        });
      }
    }
  });

  it('is summarized by a model later on where none did at first [SES-8]', async () => {
    const { create, summaries, shown } = pressureHarness({
      answer: prints(30, 5000),
      summary: (_request, count) => turnParts(count === 0 ? '' : `Summary ${count}.`),
      tools: [printTool],
    });
    await runToEnd(await create(), { maxTurns: 40 });
    const [first, second] = payloadsOf(shown, 'context_checkpoint_committed');
    expect([first?.model, second?.model]).toEqual([null, 'test/a']);
    const [text, later] = summaries.slice(1).map(({ messages }) => textsOf(messages[0]));
    expect(text).not.toContain('<earlier_summary>');
    expect(text).toContain('"label-0"');
    expect(later).toContain('<earlier_summary>\nSummary 1.');
    expect(later).not.toContain('"label-0"');
  });

  it('stops asking for summaries after three failures in a row [SES-8]', async () => {
    const { create, summaries, shown } = pressureHarness({
      answer: prints(60, 5000),
      summary: () => turnParts(''),
      tools: [printTool],
    });
    await runToEnd(await create(), { maxTurns: 70 });
    expect(payloadsOf(shown, 'context_checkpoint_committed').length).toBeGreaterThan(4);
    expect(summaries).toHaveLength(3);
  });

  it('is not waited for longer than three minutes, and leaves no timer [SES-8]', async () => {
    const { create, clock, summaries, shown } = pressureHarness({
      answer: small,
      summary: () => new Promise(() => undefined),
      tools: [printTool],
    });
    const { done } = await (await create()).startRun(runInit());
    await until(() => summaries.length === 1);
    clock.advance(180_000);
    expect(await done).toMatchObject({ status: 'completed' });
    expect(payloadsOf(shown, 'context_checkpoint_committed')[0]?.model).toBeNull();
    expect(clock.pending()).toBe(0);
  });

  it('P5 is given up when the run is cancelled: nothing of it is written, and a later prompt goes on [SES-5] [SES-8]', async () => {
    let hangs = true;
    const { create, summaries, types, turns } = pressureHarness({
      answer: small,
      summary: () => (hangs ? new Promise(() => undefined) : turnParts('At last.')),
      tools: [printTool],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => summaries.length === 1);
    await session.cancel(runId, 'user');
    expect(await done).toMatchObject({ status: 'cancelled', reason: 'user' });
    expect(types()).not.toContain('context_checkpoint_committed');
    hangs = false;
    expect(await runToEnd(session, { clientRunId: 'run-2', input: 'go on' })).toMatchObject({
      status: 'completed',
    });
    expect(textsOf(turns.at(-1)!.messages[0])).toContain('At last.');
    assertValidRequest(turns.at(-1)!);
  });

  it('lets in what the user says meanwhile, with the very next request [SES-5]', async () => {
    let release: () => void = () => undefined;
    const { create, summaries, turns } = pressureHarness({
      answer: small,
      summary: async () => {
        await new Promise<void>((resolve) => (release = resolve));
        return turnParts('S');
      },
      tools: [printTool],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => summaries.length === 1);
    const before = turns.length;
    await session.steer(runId, 'and hurry');
    release();
    await done;
    expect(textsOf(turns[before]?.messages.at(-1))).toBe('and hurry');
    expect(turns.filter(({ messages }) => textsOf(messages.at(-1)) === 'and hurry')).toHaveLength(1);
  });

  it('keeps the newest notes of the workspace word by word [CFG-1] [SES-8]', async () => {
    let notes = 'Use tabs.';
    const { create, turns } = pressureHarness({
      answer: (_request, turn) =>
        turn === 0 || turn > 12
          ? turnParts('ok')
          : turnParts('', [{ id: `c${turn}`, tool: 'print', args: { label: 'x', bytes: 5000 } }]),
      tools: [printTool],
      notes: async () => ({ path: '/project/AGENTS.md', text: notes }),
    });
    const session = await create();
    await runToEnd(session);
    notes = 'Use spaces.';
    await runToEnd(session, { clientRunId: 'run-2' });
    const { messages } = turns.at(-1)!;
    expect(textsOf(messages[0])).toContain('Use spaces.');
    expect(textsOf(messages[1])).toContain('<context_checkpoint>');
    expect(JSON.stringify(messages)).not.toContain('Use tabs.');
  });
});
