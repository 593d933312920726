import { describe, expect, it } from '@jest/globals';
import type { PermissionAction, PermissionEffect } from '@agentd/contract';
import { flush } from '@agentd/contract/testing';
import type { PermissionRule } from '../agent-document.ts';
import type { ApprovalAnswer, Approver } from '../ports.ts';
import { operationDigest } from './prepared-operation.ts';
import {
  callOf,
  fakeTool,
  said,
  scriptedApprover,
  turnFixture,
  type ToolInit,
} from './testing/turn-fixture.ts';

const rule = (action: PermissionAction, effect: PermissionEffect, pattern = '*'): PermissionRule => ({
  action,
  pattern,
  effect,
});

const rulesOf = (...document: readonly PermissionRule[]) => ({ rules: { document, overlay: [] } });
const asking = rulesOf(rule('write', 'ask'), rule('read', 'allow'));

/** A writing tool and a reading one, which note when they run. */
function setup(answers: Parameters<typeof scriptedApprover>[0], init: ToolInit = {}) {
  const ran: string[] = [];
  const tool = (name: string, action: PermissionAction) =>
    fakeTool({
      name,
      action,
      label: `/${name}`,
      execute: async () => {
        ran.push(name);
        return said(`ran ${name}`);
      },
      ...(action === 'write' ? init : {}),
    });
  const script = scriptedApprover(answers);
  const tools = [tool('one', 'write'), tool('two', 'write'), tool('free', 'read')];
  return { ran, ...script, ...turnFixture(tools, { approver: script.approver }) };
}

describe('rules', () => {
  it('deny without asking, in every mode [PERM-6] [PERM-8] [SCH-8]', async () => {
    for (const mode of ['ask', 'auto', 'yolo'] as const) {
      const { run, ran, questions, log } = setup([]);
      const policy = rulesOf(rule('write', 'allow'), rule('write', 'deny', '/one'), rule('read', 'allow'));
      const { reports, denials } = await run([callOf('one'), callOf('free')], { ...policy, mode });
      expect(reports[0]).toMatchObject({
        outcome: 'failed',
        text: '',
        error: { code: 'permission_denied' },
        metadata: {
          denial: { kind: 'tool_denied', source: 'policy', rule: 'write: /one = deny', feedback: null },
        },
      });
      expect(reports[0]!.error!.message).toBe(
        'permission denied for write on "/one": the rule "write: /one = deny" forbids it. ' +
          'Do not repeat the call as it is: choose another way, or go on without it.',
      );
      expect([denials, ran, questions]).toEqual([1, ['free'], []]);
      expect(log.of('approval_requested')).toEqual([]);
      expect(log.of('tool_call_terminated')[0]!.result!.metadata).toEqual(reports[0]!.metadata);
    }
  });

  it('deny what none of them matches, and name none [PERM-2] [PERM-8]', async () => {
    const { run } = setup([]);
    const { reports } = await run([callOf('one')], rulesOf(rule('write', 'allow', '/other')));
    expect(reports[0]).toMatchObject({ metadata: { denial: { source: 'policy', rule: null } } });
    expect(reports[0]!.error!.message).toContain('no rule allows it');
  });
});

describe('an ask', () => {
  it('is put to the approver and recorded, both on disk before anything runs [PERM-6] [PERM-7] [SCH-11]', async () => {
    const { run, questions, log, ran } = setup([{ decision: 'once' }]);
    const { reports } = await run([callOf('one', { x: 1 })], asking);
    const callId = reports[0]!.tool_call_id;
    expect(ran).toEqual(['one']);
    expect(questions).toEqual([
      {
        approvalId: '00000000-0000-4000-8000-000000000002',
        callId,
        tool: 'one',
        request: { action: 'write', label: '/one' },
        rule: 'write: * = ask',
      },
    ]);
    expect(log.of('approval_requested')).toEqual([
      {
        type: 'approval_requested',
        approval_id: '00000000-0000-4000-8000-000000000002',
        tool_call_id: callId,
        action: 'write',
        label: '/one',
        operation_sha256: operationDigest({
          tool: 'one',
          action: 'write',
          label: '/one',
          operation: { x: 1 },
        }),
        expires_at: null,
      },
    ]);
    expect(log.of('approval_finalized')).toMatchObject([
      { decision: 'once', source: 'user', feedback: null },
    ]);
    expect(log.journal.slice(2, 7)).toEqual([
      'approval_requested',
      'sync',
      'approval_finalized',
      'sync',
      'tool_call_terminated',
    ]);
  });

  it('is put one at a time in call order, and nothing runs before the last answer [SCH-11]', async () => {
    const asked: string[] = [];
    const answers: ((answer: ApprovalAnswer) => void)[] = [];
    const approver: Approver = {
      ask: ({ tool }) => {
        asked.push(tool);
        return new Promise((resolve) => answers.push(resolve));
      },
    };
    const ran: string[] = [];
    const tools = ['one', 'two', 'free'].map((name) =>
      fakeTool({
        name,
        action: name === 'free' ? 'read' : 'write',
        execute: async () => {
          ran.push(name);
          return said('');
        },
      }),
    );
    const { run } = turnFixture(tools, { approver });
    const outcome = run([callOf('free'), callOf('two'), callOf('one')], asking);
    await flush();
    expect([asked, ran]).toEqual([['two'], []]);
    answers[0]!({ decision: 'reject', source: 'user', feedback: 'use one' });
    await flush();
    expect([asked, ran]).toEqual([['two', 'one'], []]);
    answers[1]!({ decision: 'once', source: 'user', feedback: null });
    const { reports } = await outcome;
    expect(ran).toEqual(['free', 'one']);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['completed', 'failed', 'completed']);
  });

  it.each<[Partial<ApprovalAnswer>, string]>([
    [
      { decision: 'reject', feedback: 'not that file' },
      'the rule "write: * = ask" asks, and the user refused: not that file',
    ],
    [{ decision: 'reject' }, 'the rule "write: * = ask" asks, and the user refused'],
    [{ decision: 'expired', source: 'policy' }, 'nobody answered in time'],
    [
      { decision: 'reject', source: 'policy', feedback: 'nobody can answer in a headless run' },
      'the rule "write: * = ask" asks, and it was refused without asking anybody: nobody can answer in a headless run',
    ],
  ])(
    'refused by %j denies the call with its rule, and the run goes on [PERM-8] [field J10]',
    async (answer, message) => {
      const { run, ran, log } = setup([answer]);
      const { reports, denials } = await run([callOf('one'), callOf('free')], asking);
      expect(reports[0]).toMatchObject({
        outcome: 'failed',
        error: { code: 'permission_denied', message: expect.stringContaining(message) },
        metadata: {
          denial: {
            kind: 'tool_denied',
            source: answer.source ?? 'user',
            rule: 'write: * = ask',
            feedback: answer.feedback ?? null,
          },
        },
      });
      expect([denials, ran]).toEqual([1, ['free']]);
      expect(log.of('approval_finalized')).toMatchObject([answer]);
    },
  );

  it('is approved by the mode yolo, with events and no question [PERM-6]', async () => {
    const { run, ran, questions, log } = setup([]);
    await run([callOf('one'), callOf('two')], { ...asking, mode: 'yolo' });
    expect([ran, questions]).toEqual([['one', 'two'], []]);
    expect(log.of('approval_requested')).toHaveLength(2);
    expect(log.of('approval_finalized')).toMatchObject([
      { decision: 'once', source: 'mode' },
      { decision: 'once', source: 'mode' },
    ]);
    expect(log.journal.slice(2, 8)).toEqual([
      'sync',
      'approval_requested',
      'approval_finalized',
      'approval_requested',
      'approval_finalized',
      'sync',
    ]);
  });

  it('goes to the approver in mode auto too, and says that nothing classifies it [PERM-6]', async () => {
    const { run, questions } = setup([{ decision: 'once' }]);
    await run([callOf('one')], { ...asking, mode: 'auto' });
    expect(questions[0]!.rule).toBe('write: * = ask (mode auto asks: it has no classifier)');
  });

  it('answered with always is not asked again for that action and resource [PERM-7]', async () => {
    const { run, ran, questions, log } = setup([{ decision: 'always' }, { decision: 'reject' }]);
    await run([callOf('one'), callOf('one', { other: 'arguments' }), callOf('two')], asking);
    await run([callOf('one')], asking);
    expect(questions.map(({ tool }) => tool)).toEqual(['one', 'two']);
    expect(ran).toEqual(['one', 'one', 'one']);
    expect(log.of('approval_finalized').map(({ source }) => source)).toEqual([
      'user',
      'grant',
      'user',
      'grant',
    ]);
  });

  it('answered with always does not outlive a rule that denies [PERM-6] [PERM-7]', async () => {
    const { run, ran } = setup([{ decision: 'always' }]);
    await run([callOf('one')], asking);
    await run([callOf('one')], rulesOf(rule('write', 'deny')));
    expect(ran).toEqual(['one']);
  });

  it('that the approver fails on is refused: a fault approves nothing [PERM-6]', async () => {
    const { run, ran, log } = setup([new Error('terminal gone')]);
    const { reports } = await run([callOf('one'), callOf('free')], asking);
    expect(reports[0]!.error!.message).toContain('terminal gone');
    expect(log.of('approval_finalized')).toMatchObject([{ decision: 'reject', source: 'policy' }]);
    expect(ran).toEqual(['free']);
  });

  it('is closed as cancelled when the run is, and no other is put [SCH-10]', async () => {
    for (const obedient of [true, false]) {
      const asked: string[] = [];
      const approver: Approver = {
        ask: ({ tool }, signal) => {
          asked.push(tool);
          return new Promise((_, reject) => {
            if (obedient) signal.addEventListener('abort', () => reject(signal.reason));
          });
        },
      };
      const tools = ['one', 'two'].map((name) => fakeTool({ name, action: 'write' }));
      const fixture = turnFixture(tools, { approver });
      const outcome = fixture.run([callOf('one'), callOf('two')], asking);
      await flush();
      fixture.cancel.abort();
      fixture.clock.advance(3000);
      const { reports, denials } = await outcome;
      expect(reports.map(({ outcome, error }) => [outcome, error?.code])).toEqual([
        ['cancelled', 'cancelled'],
        ['cancelled', 'cancelled'],
      ]);
      expect([asked, denials]).toEqual([['one'], 0]);
      expect(fixture.log.of('approval_finalized')).toMatchObject([
        { decision: 'cancelled', source: 'policy' },
      ]);
    }
  });
});

describe('the approved operation', () => {
  it('is what runs, even where the tool exchanges what it prepared [PERM-7]', async () => {
    const ran: string[] = [];
    const prepared = {
      permission: { action: 'write' as const, label: '/asked' },
      operation: { path: '/asked' },
      execute: async () => {
        ran.push('approved');
        return said('');
      },
    };
    const approver: Approver = {
      ask: async () => {
        prepared.execute = async () => {
          ran.push('exchanged');
          return said('');
        };
        return { decision: 'once', source: 'user', feedback: null };
      },
    };
    const tool = { ...fakeTool({ action: 'write' }), prepare: async () => prepared };
    await turnFixture([tool], { approver }).run([callOf('tool')], asking);
    expect(ran).toEqual(['approved']);
  });

  it('does not run when it changed after the approval [PERM-7]', async () => {
    const operation = { path: '/asked' };
    const { run, ran } = setup([{ decision: 'once' }], {
      operation,
      revalidate: async () => void (operation.path = '/other'),
    });
    const { reports } = await run([callOf('one')], asking);
    expect(reports[0]).toMatchObject({ outcome: 'failed', error: { code: 'stale' } });
    expect(ran).toEqual([]);
  });

  it('has a digest that does not depend on the order of keys, and on everything else [PERM-7]', () => {
    const digest = operationDigest({ a: 1, b: [{ c: null, d: 'x' }] });
    expect(operationDigest({ b: [{ d: 'x', c: null }], a: 1 })).toBe(digest);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(operationDigest({ a: 1, b: [{ c: null, d: 'y' }] })).not.toBe(digest);
    expect(operationDigest({ a: '1', b: [{ c: null, d: 'x' }] })).not.toBe(digest);
  });
});
