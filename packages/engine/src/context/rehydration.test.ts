import { describe, expect, it } from '@jest/globals';
import type { ModelRequest } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import type { Session } from '../session.ts';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { payloadsOf, runToEnd } from '../testing/engine-harness.ts';
import { bulk, pressureHarness, printTool, shelf, textsOf, type Answer } from './testing/pressure-harness.ts';

const path = (number: number): string => `src/f${number}.ts`;
const read = (turn: number, name: string) =>
  turnParts('', [{ id: `c${turn}`, tool: 'open', args: { path: name } }]);
const print = (turn: number, bytes = 5000) =>
  turnParts('', [{ id: `c${turn}`, tool: 'print', args: { label: 'x', bytes } }]);

/** Reads files one a turn, then prints until room has to be made. */
const readsThenPrints =
  (names: readonly string[], prints = 14): Answer =>
  (_request, turn) => {
    if (turn < names.length) return read(turn, names[turn] ?? '');
    return turn < names.length + prints ? print(turn) : turnParts('done');
  };

const firstText = ({ messages }: ModelRequest): string => textsOf(messages[0]);

const files = Object.fromEntries(Array.from({ length: 8 }, (_, number) => [path(number), `text ${number}`]));

describe('files after a checkpoint', () => {
  it('are read again as they are now: the five that were read last, each once [SES-8] [EVT-2]', async () => {
    const shelved = shelf(files);
    const { create, shown, turns } = pressureHarness({
      answer: readsThenPrints([0, 1, 2, 3, 4, 5, 6, 2].map(path)),
      summary: () => {
        shelved.files.set(path(2), 'text 2, changed since');
        return turnParts('S');
      },
      tools: [shelved.tool, printTool],
    });
    expect(await runToEnd(await create(), { maxTurns: 30 })).toMatchObject({
      status: 'completed',
      toolCalls: 22,
    });
    const [rehydrated] = payloadsOf(shown, 'context_rehydrated');
    expect(rehydrated?.files).toEqual([
      { label: path(2), text: 'text 2, changed since' },
      ...[6, 5, 4, 3].map((number) => ({ label: path(number), text: `text ${number}` })),
    ]);
    const after = turns.find((request) => firstText(request).includes('<context_checkpoint>'))!;
    expect(firstText(after)).toContain('<file_now name="src/f2.ts">\ntext 2, changed since\n</file_now>');
    assertValidRequest(after);
    // Reading again is no call of the run.
    expect(payloadsOf(shown, 'tool_call_started').filter(({ tool }) => tool === 'open')).toHaveLength(8);
  });

  it('are left out where the history shows them, where they are no text, and where they are gone [SES-8]', async () => {
    const shelved = shelf({ ...files, 'a.png': 'picture' });
    shelved.attachments.set('a.png', [
      { bytes: Uint8Array.of(1), record: { mime_type: 'image/png', filename: 'a.png' } },
    ]);
    const { create, shown } = pressureHarness({
      answer: (request, turn, signal) =>
        turn === 13
          ? read(turn, path(1))
          : readsThenPrints([path(1), 'a.png', path(3), path(4)], 12)(request, turn, signal),
      summary: () => {
        shelved.files.delete(path(3));
        return turnParts('S');
      },
      tools: [shelved.tool, printTool],
    });
    await runToEnd(await create(), { maxTurns: 30 });
    expect(payloadsOf(shown, 'context_rehydrated')[0]?.files).toEqual([{ label: path(4), text: 'text 4' }]);
  });

  it('are bounded by what the context has left [SES-8]', async () => {
    const large = Object.fromEntries([1, 2, 3].map((number) => [path(number), bulk(`${number}`, 40_000)]));
    const { create, shown, turns } = pressureHarness({
      info: { contextTokens: 60_000 },
      answer: readsThenPrints([path(1), path(2), path(3)], 40),
      tools: [shelf(large).tool, printTool],
    });
    expect(await runToEnd(await create(), { maxTurns: 60 })).toMatchObject({ status: 'completed' });
    const [rehydrated] = payloadsOf(shown, 'context_rehydrated');
    const sizes = rehydrated?.files.map(({ text }) => text.length) ?? [];
    expect(sizes[0]).toBe(32 * 1024);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThanOrEqual((60_000 * 0.7 * 4) / 2);
    for (const request of turns)
      expect(JSON.stringify(request.messages).length / 4).toBeLessThan(58_000 * 0.75);
  });

  it.each([
    ['a rule denies', [{ action: 'read', pattern: 'src/f1.ts', effect: 'deny' }], 'ask', ['src/f2.ts']],
    [
      'a rule would have to ask',
      [{ action: 'read', pattern: 'src/f1.ts', effect: 'ask' }],
      'ask',
      ['src/f2.ts'],
    ],
    [
      'the mode answers for the user, both',
      [{ action: 'read', pattern: 'src/*', effect: 'ask' }],
      'yolo',
      ['src/f2.ts', 'src/f1.ts'],
    ],
  ] as const)(
    'are read without a question: where %s, %j leaves what it should [PERM-1] [SES-8]',
    async (...[, rules, mode, labels]) => {
      let asked = 0;
      let session: Session | undefined;
      const { create, shown } = pressureHarness({
        answer: readsThenPrints([path(1), path(2)]),
        summary: async () => {
          await session?.setOverlay(rules);
          return turnParts('S');
        },
        tools: [shelf(files).tool, printTool],
        approver: {
          ask: async () => {
            asked += 1;
            return { decision: 'reject', source: 'user', feedback: null };
          },
        },
      });
      session = await create();
      await session.setMode(mode);
      expect(await runToEnd(session, { maxTurns: 30 })).toMatchObject({ status: 'completed' });
      expect(payloadsOf(shown, 'context_rehydrated')[0]?.files.map(({ label }) => label)).toEqual(labels);
      expect(payloadsOf(shown, 'approval_requested').filter(({ label }) => label.startsWith('src/'))).toEqual(
        [],
      );
      expect(asked).toBe(0);
    },
  );
});
