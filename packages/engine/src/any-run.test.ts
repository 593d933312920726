import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { modelError, type FinishReason, type ModelStreamPart } from '@agentd/contract';
import { flush, turnParts, type SequenceTurn } from '@agentd/contract/testing';
import { assertValidRequest } from './testing/assert-valid-request.ts';
import {
  engineHarness,
  heldTool,
  instantTool,
  payloadsOf,
  runInit,
  until,
  type Harness,
} from './testing/engine-harness.ts';

const callId = fc.oneof(fc.constantFrom('', 'c', 'c', 'call_0', 'has space', 'x'.repeat(200)), fc.string());
const callArguments = fc.oneof(
  fc.constantFrom('{"label":"a"}', '{"label":"b"}', '{"label":5}', '', '[]', '{"label":"cut'),
  fc.json(),
);
const call: fc.Arbitrary<ModelStreamPart> = fc.record({
  type: fc.constant('tool-call' as const),
  providerCallId: callId,
  tool: fc.constantFrom('look', 'look', 'hold', 'change', 'no such tool', ''),
  input: callArguments,
});
const prose: fc.Arbitrary<ModelStreamPart> = fc.record({
  type: fc.constantFrom('text-delta' as const, 'reasoning-delta' as const),
  id: fc.constantFrom('0', '1'),
  text: fc.oneof(fc.constantFrom('', ' ', 'said', '\ud83d'), fc.string()),
});
const reason: fc.Arbitrary<FinishReason> = fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls');
const wholeTurn = fc
  .tuple(fc.array(fc.oneof(prose, call), { maxLength: 5 }), reason)
  .map(([parts, finish]): SequenceTurn => [...parts, ...turnParts('', [], finish)]);
const cutTurn = fc.array(fc.oneof(prose, call), { maxLength: 3 });
const failedTurn = fc
  .constantFrom('MODEL_RATE_LIMIT', 'MODEL_OVERLOADED', 'MODEL_REFUSED')
  .map((code) => modelError(code, 'no'));
const turns = fc.array(fc.oneof({ weight: 4, arbitrary: wholeTurn }, cutTurn, failedTurn), { maxLength: 6 });

/** What happens to the run from outside, one entry a moment. */
const moments = fc.array(fc.constantFrom('nothing', 'nothing', 'steer', 'time'), { maxLength: 20 });

describe('any run, however its model behaves and whenever it is steered and cancelled', () => {
  it('leaves one end for each run and call, and a conversation that every provider takes [SES-5] [SCH-10]', async () => {
    await fc.assert(
      fc.asyncProperty(turns, moments, async (turns, moments) => {
        const harness = engineHarness({
          turns,
          tools: [instantTool('look'), heldTool('hold', { hold: true }).tool, instantTool('change', 'write')],
          permissions: { read: 'allow', write: 'ask' },
        });
        const session = await harness.create();
        const { runId, done } = await session.startRun(runInit());
        const said: string[] = ['hello'];
        for (const [index, moment] of moments.entries()) {
          await flush();
          if (session.state.activeRun === null) break;
          if (moment === 'time') harness.clock.advance(2000);
          if (moment !== 'steer') continue;
          await session.steer(runId, `steer ${index}.`);
          said.push(`steer ${index}.`);
        }
        if (session.state.activeRun !== null) await driven(harness, session.cancel(runId, 'user'));
        await driven(harness, done);
        await assertGoesOn(harness, session, said);
      }),
      { numRuns: 150 },
    );
  });
});

/** Lets time pass until the work is over. */
async function driven(harness: Harness, work: Promise<unknown>): Promise<void> {
  let over = false;
  const settled = work.finally(() => (over = true));
  for (let step = 0; step < 50 && !isOver(); step += 1) {
    await flush();
    harness.clock.advance(3000);
  }
  await settled;
  function isOver(): boolean {
    return over;
  }
}

/** Whatever turns the model has left: what counts is the first request of the next run. */
async function assertGoesOn(
  harness: Harness,
  session: Awaited<ReturnType<Harness['create']>>,
  said: readonly string[],
): Promise<void> {
  const { model, memory } = harness;
  const before = model.requests.length;
  const { runId, done } = await session.startRun(runInit({ clientRunId: 'run-2', input: 'go on' }));
  await until(() => model.requests.length > before);
  if (session.state.activeRun !== null) await driven(harness, session.cancel(runId, 'user'));
  await driven(harness, done);
  model.requests.forEach(assertValidRequest);
  const heard = model.requests[before]!.messages.flatMap(({ role, content }) =>
    role === 'user' ? content.map(({ text }) => text) : [],
  );
  expect(heard).toEqual([...said, 'go on']);
  const events = memory.synced(session.id);
  const ids = (type: 'tool_call_started' | 'tool_call_terminated') =>
    payloadsOf(events, type).map((payload) => payload.tool_call_id);
  expect(ids('tool_call_terminated').toSorted()).toEqual(ids('tool_call_started').toSorted());
  const ends = events.filter(({ payload }) => /^run_(?:completed|failed|cancelled)$/.test(payload.type));
  expect(ends).toHaveLength(2);
}
