import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { ChildInit, SessionFacts, SessionHost, SessionId } from '@agentd/contract';
import type { ContractCase } from '@agentd/contract/testing';
import type { DelegationLedger } from '../ledger.ts';

export interface SessionHostSubject {
  readonly host: SessionHost<DelegationLedger>;
  /** The root of a tree, without a run. */
  readonly root: SessionFacts;
  /** The root of another tree. */
  readonly stranger: SessionFacts;
  /** An agent that a child may be of. */
  readonly agent: string;
  /** Lets the active run of a session complete with this text as its only turn. */
  readonly end: (sessionId: SessionId, text: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const NOBODY = '00000000-0000-4000-8000-00000000dead';
const RUN = '00000000-0000-4000-8000-0000000000aa';

/** `number` tells children apart: 1 to 9. */
function childOf({ root, agent }: SessionHostSubject, number: number): ChildInit {
  const call = `00000000-0000-4000-8000-0000000000c${number}`;
  return {
    sessionId: `00000000-0000-4000-8000-0000000000e${number}`,
    handle: `${agent}_0000000${number}`,
    agent,
    title: `Task ${number}`,
    origin: {
      rootId: root.rootId,
      parentId: root.sessionId,
      parentRunId: RUN,
      toolCallId: call,
      invocationId: `${root.sessionId}:${RUN}:${call}`,
      depth: root.depth + 1,
    },
  };
}

/** What every `SessionHost` owes delegation. */
export const sessionHostCases: readonly ContractCase<SessionHostSubject>[] = [
  {
    name: 'finds sessions of any tree, and null for nobody',
    run: async ({ host, root, stranger }) => {
      for (const { sessionId, handle } of [root, stranger]) {
        const found = await host.find(sessionId);
        deepStrictEqual([found?.sessionId, found?.handle], [sessionId, handle]);
      }
      strictEqual(await host.find(NOBODY), null);
    },
  },
  {
    name: 'creates a child as it was told to, once',
    run: async (subject) => {
      const { host, root } = subject;
      const init = childOf(subject, 1);
      const { sessionId, handle, agent } = init;
      const wanted = { sessionId, handle, agent, description: 'Task 1', status: 'idle' };
      const place = { rootId: root.rootId, parentId: root.sessionId, depth: root.depth + 1, cwd: root.cwd };
      has(await host.createChild(init), { ...wanted, ...place });
      has(await host.createChild({ ...init, title: 'Another task' }), { ...wanted, ...place });
      strictEqual((await host.tree(root.rootId)).length, 2);
    },
  },
  {
    name: 'lists one tree, the root first, then in order of creation',
    run: async (subject) => {
      const { host, root } = subject;
      for (const number of [2, 1, 3]) await host.createChild(childOf(subject, number));
      const ids = (await host.tree(root.rootId)).map(({ sessionId }) => sessionId);
      deepStrictEqual(ids, [
        root.sessionId,
        ...[2, 1, 3].map((number) => childOf(subject, number).sessionId),
      ]);
    },
  },
  {
    name: 'hands out one live session, also within a use of it',
    run: async ({ host, root }) => {
      await host.use(root.sessionId, async (outer) => {
        const { seq } = outer.log.append({ type: 'host_case' }, null);
        await host.use(root.sessionId, async (inner) => {
          strictEqual(inner.ledger, outer.ledger);
          strictEqual(inner.inbox, outer.inbox);
          ok(inner.log.append({ type: 'host_case' }, null).seq > seq);
          await inner.log.sync();
        });
      });
      await rejects(host.use(NOBODY, async () => undefined));
    },
  },
  {
    name: 'shows the ledger a run from its start to its end',
    run: async (subject) => {
      const { host, end } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      const { runId, done } = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      strictEqual(await host.use(sessionId, async ({ ledger }) => ledger.activeRun), runId);
      strictEqual((await host.find(sessionId))?.status, 'running');
      strictEqual((await host.run(sessionId))?.status, 'running');
      await end(sessionId, 'All is well.');
      has(await done, { runId, status: 'completed', text: 'All is well.', error: null });
      deepStrictEqual(await host.run(sessionId, 'a'), await done);
      strictEqual(await host.use(sessionId, async ({ ledger }) => ledger.activeRun), null);
      strictEqual((await host.find(sessionId))?.status, 'completed');
    },
  },
  {
    name: 'knows a run again by its client run id, at once, whatever else is active',
    run: async (subject) => {
      const { host, end } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      const first = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      const same = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      strictEqual(same.runId, first.runId);
      await end(sessionId, 'one');
      strictEqual((await same.done).text, 'one');
      const second = await host.startRun(sessionId, { clientRunId: 'b', input: 'go on' });
      const again = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      deepStrictEqual(await again.done, await first.done);
      await end(sessionId, 'two');
      strictEqual((await second.done).text, 'two');
      strictEqual((await host.run(sessionId))?.text, 'two');
      strictEqual((await host.run(sessionId, 'a'))?.text, 'one');
      strictEqual(await host.run(sessionId, 'c'), null);
    },
  },
  {
    name: 'starts a run after the active one, unless the wait is given up',
    run: async (subject) => {
      const { host, end } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      const { signal, abort } = abortable();
      const given = host.startRun(sessionId, { clientRunId: 'b', input: 'no', signal });
      const kept = host.startRun(sessionId, { clientRunId: 'c', input: 'yes' });
      abort();
      await rejects(given);
      strictEqual(await host.run(sessionId, 'b'), null);
      await end(sessionId, 'one');
      const { runId } = await kept;
      strictEqual((await host.run(sessionId))?.runId, runId);
      await end(sessionId, 'two');
      strictEqual(await host.run(sessionId, 'b'), null);
    },
  },
  {
    name: 'cancels the run that is meant, and no other one',
    run: async (subject) => {
      const { host, end } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      const first = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      await end(sessionId, 'one');
      const second = await host.startRun(sessionId, { clientRunId: 'b', input: 'go' });
      await host.cancelRun(sessionId, first.runId);
      strictEqual((await host.run(sessionId))?.status, 'running');
      await host.cancelRun(sessionId, second.runId);
      strictEqual((await host.run(sessionId))?.status, 'cancelled');
      strictEqual((await second.done).status, 'cancelled');
      await host.startRun(sessionId, { clientRunId: 'c', input: 'go' });
      await host.cancelRun(sessionId);
      strictEqual((await host.run(sessionId, 'c'))?.status, 'cancelled');
      await host.cancelRun(sessionId);
    },
  },
  {
    name: 'copies prompts and answers of a conversation, the newest bytes of them',
    run: async (subject) => {
      const { host, end } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      await host.startRun(sessionId, { clientRunId: 'a', input: 'What is the first question?' });
      await end(sessionId, 'The last answer: ä');
      const whole = await host.conversation(sessionId, 65_536);
      ok(whole.indexOf('first question') < whole.indexOf('last answer'));
      const part = await host.conversation(sessionId, 12);
      ok(Buffer.byteLength(part) <= 12 && part.includes('ä') && !part.includes('\uFFFD'));
    },
  },
  {
    name: 'wakes at once, as often as it is asked, and never throws',
    run: async ({ host, root }) => {
      host.wake(root.sessionId);
      host.wake(root.sessionId);
      host.wake(NOBODY);
    },
  },
  {
    name: 'refuses before the work began once it stops',
    run: async (subject) => {
      const { host, root, stop } = subject;
      const { sessionId } = await host.createChild(childOf(subject, 1));
      const { done } = await host.startRun(sessionId, { clientRunId: 'a', input: 'go' });
      await stop();
      strictEqual(host.shutdown.aborted, true);
      strictEqual((await done).status, 'cancelled');
      let begun = false;
      await rejects(host.use(root.sessionId, async () => void (begun = true)));
      strictEqual(begun, false);
      await rejects(host.startRun(sessionId, { clientRunId: 'b', input: 'go' }));
    },
  },
];

/** At least these fields. */
function has(actual: object, wanted: Readonly<Record<string, unknown>>): void {
  const fields = Object.entries(actual).filter(([name]) => Object.hasOwn(wanted, name));
  deepStrictEqual(Object.fromEntries(fields), wanted);
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
