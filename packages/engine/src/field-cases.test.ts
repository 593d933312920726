import { describe, expect, it } from '@jest/globals';
import type { ModelStreamPart, ToolResultPart } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import type { ApprovalQuestion, Approver } from './ports.ts';
import { assertValidRequest } from './testing/assert-valid-request.ts';
import {
  engineHarness,
  heldTool,
  instantTool,
  payloadsOf,
  runInit,
  runToEnd,
  until,
  type Harness,
} from './testing/engine-harness.ts';

const look = (label: string, id = `c-${label}`) => ({ id, tool: 'look', args: { label } });

/** The results of calls in the last request. */
function resultsOf({ model }: Harness): readonly ToolResultPart[] {
  return model.requests
    .at(-1)!
    .messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
}

describe('an abort, and then "go on"', () => {
  async function goOn(harness: Harness, session: Awaited<ReturnType<Harness['create']>>) {
    expect((await runToEnd(session, { clientRunId: 'run-2', input: 'go on' })).status).toBe('completed');
    const request = harness.model.requests.at(-1)!;
    assertValidRequest(request);
    const last = request.messages.at(-1);
    expect(last?.role).toBe('user');
    expect(last?.content.at(-1)).toMatchObject({ text: 'go on' });
  }

  it('during a tool: each call has one result, marked as cancelled [field I1] [SCH-10]', async () => {
    const held = heldTool('look', { hold: true });
    const harness = engineHarness({
      turns: [turnParts('', [look('a'), look('b')]), turnParts('Going on.')],
      tools: [held.tool],
    });
    const session = await harness.create();
    const { runId } = await session.startRun(runInit());
    await until(() => held.started.length === 2);
    held.release('a');
    await until(() => session.state.openCalls.length === 1);
    await session.cancel(runId, 'user');
    await goOn(harness, session);
    expect(payloadsOf(harness.shown, 'tool_call_terminated').map(({ outcome }) => outcome)).toEqual([
      'completed',
      'cancelled',
    ]);
    expect(resultsOf(harness)).toMatchObject([
      { provider_call_id: 'c-a', text: 'did a', is_error: false },
      { provider_call_id: 'c-b', text: expect.stringContaining('cancelled'), is_error: true },
    ]);
  });

  it('during the streaming of a call: the half turn is not sent, and no tool runs [field I1]', async () => {
    const held = heldTool('look');
    const half: ModelStreamPart = { type: 'text-delta', id: '0', text: 'I will look at' };
    const harness = engineHarness({
      turns: [
        async function* () {
          yield half;
          yield { type: 'tool-call', providerCallId: 'c-1', tool: 'look', input: '{"label":"a"}' };
          await new Promise(() => undefined);
        },
        turnParts('Going on.'),
      ],
      tools: [held.tool],
    });
    const session = await harness.create();
    const { runId } = await session.startRun(runInit());
    await until(() => harness.live.length === 2);
    await session.cancel(runId, 'user');
    await goOn(harness, session);
    expect(held.started).toEqual([]);
    expect(harness.types()).not.toContain('tool_call_started');
    expect(JSON.stringify(harness.model.requests.at(-1))).not.toContain('I will look at');
  });

  it('during an approval question: the call is answered and has not run [field I1]', async () => {
    const questions: ApprovalQuestion[] = [];
    const approver: Approver = {
      ask: (question, signal) => {
        questions.push(question);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () =>
            resolve({ decision: 'cancelled', source: 'user', feedback: null }),
          );
        });
      },
    };
    const held = heldTool('look');
    const harness = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('Going on.')],
      tools: [held.tool],
      permissions: { read: 'ask' },
      approver,
    });
    const session = await harness.create();
    const { runId } = await session.startRun(runInit());
    await until(() => questions.length === 1);
    await session.cancel(runId, 'user');
    await goOn(harness, session);
    expect(held.started).toEqual([]);
    expect(session.state.openApprovals).toEqual([]);
    expect(resultsOf(harness)).toMatchObject([{ provider_call_id: 'c-a', is_error: true }]);
  });
});

describe('the ids of calls', () => {
  it.each([
    ['missing', ['']],
    ['missing from both', ['', '']],
    ['the same twice', ['x', 'x']],
    ['with spaces', ['call 1']],
    ['of 200 characters', ['x'.repeat(200)]],
  ])(
    '%s: valid and distinct ones are given, and result matches call [field I4] [SCH-9]',
    async (_name, ids) => {
      const harness = engineHarness({
        turns: [
          turnParts(
            '',
            ids.map((id, index) => look(`l${index}`, id)),
          ),
          turnParts('Done.'),
        ],
        tools: [instantTool()],
      });
      expect((await runToEnd(await harness.create())).status).toBe('completed');
      assertValidRequest(harness.model.requests[1]!);
      expect(resultsOf(harness).map(({ text }) => text)).toEqual(ids.map((_id, index) => `did l${index}`));
    },
  );

  it('that a provider counts anew in every turn stay unique in the session [field I4]', async () => {
    const harness = engineHarness({
      turns: [turnParts('', [look('a', 'call_0')]), turnParts('', [look('b', 'call_0')]), turnParts('Done.')],
      tools: [instantTool()],
    });
    await runToEnd(await harness.create());
    assertValidRequest(harness.model.requests[2]!);
    expect(resultsOf(harness).map(({ text }) => text)).toEqual(['did a', 'did b']);
  });
});

describe('arguments that are not JSON', () => {
  it.each([
    ['cut off', '{"label":"abc', 'tool_calls'],
    ['cut off at the output limit', '{"label":"abc', 'length'],
    ['with a trailing comma', '{"label":"a",}', 'tool_calls'],
    ['two objects', '{"label":"a"}{"label":"b"}', 'tool_calls'],
  ] as const)(
    '%s: the tool is not run, the log keeps the text, and the next request is valid [field I13] [ARG-3]',
    async (_name, args, reason) => {
      const held = heldTool('look');
      const harness = engineHarness({
        turns: [turnParts('', [{ id: 'c-1', tool: 'look', args }], reason), turnParts('Sorry.')],
        tools: [held.tool],
      });
      expect((await runToEnd(await harness.create())).status).toBe('completed');
      expect(held.started).toEqual([]);
      expect(payloadsOf(harness.shown, 'model_turn_committed')[0]?.content).toMatchObject([
        { type: 'tool_call', input: {}, raw_input: args },
      ]);
      assertValidRequest(harness.model.requests[1]!);
      expect(resultsOf(harness)).toMatchObject([
        { is_error: true, text: expect.stringMatching(/invalid_arguments.*cut off.*smaller pieces/s) },
      ]);
    },
  );
});

describe('blank turns', () => {
  it('of the model leave no blank block in a later request [field I5]', async () => {
    const harness = engineHarness({ turns: [turnParts(' \n '), turnParts('Here.')] });
    const session = await harness.create();
    expect(await runToEnd(session)).toMatchObject({ status: 'completed', finalText: '' });
    await runToEnd(session, { clientRunId: 'run-2', input: 'well?' });
    assertValidRequest(harness.model.requests[1]!);
  });
});
