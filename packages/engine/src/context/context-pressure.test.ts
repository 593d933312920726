import { describe, expect, it } from '@jest/globals';
import { modelError, type ModelMessage, type ModelRequest } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { payloadsOf, runInit, runToEnd, until } from '../testing/engine-harness.ts';
import {
  bulk,
  callsFor,
  pressureHarness,
  printTool,
  shelf,
  withUsage,
  writes,
} from './testing/pressure-harness.ts';

const overflow = modelError('MODEL_CONTEXT_OVERFLOW', 'prompt is too long', { status: 400 });
const resultsOf = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
const textsOf = (message: ModelMessage | undefined): string =>
  message?.role === 'user' ? message.content.map(({ text }) => text).join('\n') : '';
const isElided = (text: string): boolean => text.startsWith('[output taken out to save context');
const prints = (count: number, bytes: number) =>
  callsFor(count, 'print', (turn) => ({ label: `label-${turn}`, bytes }));

describe('a context under pressure', () => {
  it('P1 is left alone while it is within the trigger [SES-8]', async () => {
    const { create, turns, types } = pressureHarness({ answer: prints(4, 10_000), tools: [printTool] });
    await runToEnd(await create());
    expect(resultsOf(turns.at(-1)!).some(({ text }) => isElided(text))).toBe(false);
    expect(types()).not.toContain('tool_output_elided');
  });

  it('P2 loses its old bulky outputs, not the small ones and not those of the last two turns [SES-8] [EVT-2]', async () => {
    const sizes = [10_000, 8191, 10_000, 10_000, 10_000, 10_000];
    const { create, turns, shown, types, outputs, summaries } = pressureHarness({
      answer: callsFor(6, 'print', (turn) => ({ label: `label-${turn}`, bytes: sizes[turn] })),
      tools: [printTool],
    });
    const end = await runToEnd(await create());
    expect(end).toMatchObject({ status: 'completed', finalText: 'done', turns: 7 });
    expect(resultsOf(turns[5]!).map(({ text }) => isElided(text))).toEqual(Array(5).fill(false));
    expect(resultsOf(turns[6]!).map(({ text }) => isElided(text))).toEqual([
      true,
      false,
      true,
      true,
      false,
      false,
    ]);
    for (const request of turns) assertValidRequest(request);
    const elisions = payloadsOf(shown, 'tool_output_elided');
    expect(elisions.map(({ byte_length: bytes }) => bytes)).toEqual([10_000, 10_000, 10_000]);
    // What was elided is the artifact that the call had made, under the name in the marker.
    for (const [index, place] of [0, 2, 3].entries()) {
      const { marker, references } = elisions[index]!;
      const [, digest = ''] = /read\(filePath="artifact:\/\/([0-9a-f]{64})"\)/.exec(marker) ?? [];
      expect(outputs.blobs.get(digest)).toBe(bulk(`label-${place}`, 10_000));
      expect(references).toEqual([{ uri: `artifact://sha256/${digest}` }]);
    }
    expect(types()).not.toContain('context_checkpoint_committed');
    expect(summaries).toEqual([]);
  });

  it('P2 believes what the provider counted, where that can be true [SES-8]', async () => {
    const { create, types } = pressureHarness({
      answer: async (request, turn, signal) =>
        withUsage(await prints(4, 9000)(request, turn, signal), {
          input_tokens: turn === 3 ? 13_000 : 5000,
          output_tokens: 10,
        }),
      tools: [printTool],
    });
    await runToEnd(await create());
    expect(types().filter((type) => type === 'tool_output_elided')).toHaveLength(2);
  });

  it('keeps a result that no artifact has, as serialized tool content, before it is elided [ART-13] [SES-8] [OUT-17]', async () => {
    const path = (turn: number): string => `f${turn}`;
    const files = Object.fromEntries(
      Array.from({ length: 6 }, (_, turn) => [
        path(turn),
        `${bulk(path(turn), 10_000)}\nlast line of ${path(turn)}`,
      ]),
    );
    const { create, turns, shown, outputs } = pressureHarness({
      answer: callsFor(6, 'open', (turn) => ({ path: path(turn) })),
      tools: [shelf(files).tool],
    });
    await runToEnd(await create());
    const elisions = payloadsOf(shown, 'tool_output_elided');
    expect(elisions).toHaveLength(3);
    for (const [turn, { marker }] of elisions.entries()) {
      expect(marker).toContain('serialized tool content (JSON)');
      expect(marker).toContain(`last line of ${path(turn)}`);
      const [, digest = ''] = /artifact:\/\/([0-9a-f]{64})/.exec(marker) ?? [];
      // The bytes alone tell: no event is needed.
      const stored = JSON.parse(new TextDecoder().decode(outputs.files.get(digest))) as {
        readonly text: readonly string[];
      };
      expect(stored).toMatchObject({ format: 'tool_content_json', tool: 'open', outcome: 'completed' });
      expect(stored.text.join('')).toBe(files[path(turn)]);
      expect(resultsOf(turns.at(-1)!)[turn]?.text).toBe(marker);
    }
    expect(outputs.unreleased()).toBe(0);
  });

  it('leaves a result in the history that cannot be stored, and goes on [SES-8] [OUT-13]', async () => {
    const { outputs } = pressureHarness({ answer: writes('') });
    const full = { ...outputs, keep: async () => Promise.reject(new Error('no space left')) };
    const { create, types } = pressureHarness({
      answer: callsFor(6, 'open', (turn) => ({ path: `f${turn}` })),
      tools: [
        shelf(Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`f${n}`, bulk('x', 10_000)]))).tool,
      ],
      ports: { outputs: full },
    });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed' });
    expect(types()).not.toContain('tool_output_elided');
    expect(types()).toContain('context_checkpoint_committed');
  });

  it('loses a result and its files as one unit, and names both [MED-9] [MED-7]', async () => {
    const film = (turn: number) => ({
      bytes: Uint8Array.of(turn),
      record: { mime_type: 'video/mp4', filename: `v${turn}.mp4` },
    });
    const { attachments, tool } = shelf(
      Object.fromEntries([0, 1, 2].map((turn) => [`v${turn}`, `film ${turn}`])),
    );
    for (const turn of [0, 1, 2]) attachments.set(`v${turn}`, [film(turn)]);
    const { create, turns, shown } = pressureHarness({
      info: { contextTokens: 130_000 },
      answer: callsFor(3, 'open', (turn) => ({ path: `v${turn}` })),
      tools: [tool],
    });
    await runToEnd(await create());
    // Three films of 40,000 tokens are over 89,600; two are not.
    expect(resultsOf(turns[2]!).map(({ attachments: files }) => files?.length)).toEqual([1, 1]);
    const [old, ...fresh] = resultsOf(turns[3]!);
    expect(old).not.toHaveProperty('attachments');
    expect(old?.text).toMatch(/v0\.mp4 \(video\/mp4\).*Read the source again/);
    expect(fresh.map(({ attachments: files }) => files?.length)).toEqual([1, 1]);
    expect(payloadsOf(shown, 'tool_output_elided')).toHaveLength(1);
  });

  it('P4 loses the largest output of the newest turns where the request would not fit at all [SES-8]', async () => {
    const { create, turns } = pressureHarness({ answer: prints(1, 90_000), tools: [printTool] });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed' });
    const [result] = resultsOf(turns[1]!);
    expect(isElided(result?.text ?? '')).toBe(true);
    expect(result?.text).toMatch(/artifact:\/\/[0-9a-f]{64}[^]*label-0 says[^]*characters left out/);
  });
});

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
    expect(maxOutputTokens).toBe(2000);
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

describe('a provider whose context overflows', () => {
  it('is asked once more after room was made, and never a third time [SES-9]', async () => {
    for (const [times, status] of [
      [1, 'completed'],
      [2, 'failed'],
    ] as const) {
      let refusals = 0;
      const { create, shown, turns } = pressureHarness({
        answer: (request, turn, signal) => {
          if (turn < 4 || refusals === times) return prints(4, 9000)(request, turn - refusals, signal);
          refusals += 1;
          throw overflow;
        },
        tools: [printTool],
      });
      const end = await runToEnd(await create());
      expect(end.status).toBe(status);
      expect(turns).toHaveLength(6);
      expect(refusals).toBe(times);
      expect(payloadsOf(shown, 'context_checkpoint_committed')).toMatchObject([{ reason: 'overflow' }]);
      if (status === 'failed')
        expect(end.error).toMatchObject({
          code: 'MODEL_CONTEXT_OVERFLOW',
          message: expect.stringMatching(
            /no longer fits the context of test\/a \(20000 tokens\).*start a new session/,
          ),
        });
    }
  });

  it('fails at once where there is nothing to take out [SES-9]', async () => {
    const { create, turns, types } = pressureHarness({
      answer: () => {
        throw overflow;
      },
    });
    expect(await runToEnd(await create())).toMatchObject({ status: 'failed' });
    expect(turns).toHaveLength(1);
    expect(types()).not.toContain('context_checkpoint_committed');
  });
});
