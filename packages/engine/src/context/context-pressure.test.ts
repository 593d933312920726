import { describe, expect, it } from '@jest/globals';
import { modelError } from '@agentd/contract';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { payloadsOf, runToEnd } from '../testing/engine-harness.ts';
import {
  bulk,
  callsFor,
  pressureHarness,
  prints,
  printTool,
  resultsOf,
  shelf,
  withUsage,
  writes,
} from './testing/pressure-harness.ts';

const overflow = modelError('MODEL_CONTEXT_OVERFLOW', 'prompt is too long', { status: 400 });
const isElided = (text: string): boolean => text.startsWith('[output taken out to save context');

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

  it('gets no more old pictures, which our reckoning does not count [MED-7] [MED-9] [SES-9]', async () => {
    const { attachments, tool } = shelf(
      Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`p${n}`, `picture ${n}`])),
    );
    for (const n of [0, 1, 2, 3, 4, 5])
      attachments.set(`p${n}`, [
        { bytes: Uint8Array.of(n), record: { mime_type: 'image/png', filename: `p${n}.png` } },
      ]);
    let refusals = 0;
    const { create, turns } = pressureHarness({
      answer: (request, turn, signal) => {
        const pictures = resultsOf(request).flatMap(({ attachments: files }) => files ?? []);
        if (pictures.length > 3) {
          refusals += 1;
          throw overflow;
        }
        return callsFor(6, 'open', (call) => ({ path: `p${call}` }))(request, turn - refusals, signal);
      },
      tools: [tool],
    });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed', toolCalls: 6 });
    expect(refusals).toBe(1);
    expect(resultsOf(turns.at(-1)!).map(({ text }) => text)).toEqual(['picture 3', 'picture 4', 'picture 5']);
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
