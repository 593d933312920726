import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { EventEnvelope, InboxLog } from '@agentd/contract';
import type { ContractCase } from '@agentd/contract/testing';
import type { MessagingPorts, Peer } from '../ports.ts';

export interface InboxLogSubject {
  readonly log: InboxLog;
  /** What a crash now would leave. */
  readonly afterCrash: () => Promise<readonly EventEnvelope[]>;
}

/** What every log owes that an inbox writes to. */
export const inboxLogCases: readonly ContractCase<InboxLogSubject>[] = [
  {
    name: 'numbers events at once, each higher than all before it, in the order of the calls',
    run: async ({ log }) => {
      const seqs = ['a', 'b', 'c'].map((type) => log.append({ type }, null).seq);
      strictEqual(new Set(seqs).size, 3);
      deepStrictEqual(
        seqs.toSorted((a, b) => a - b),
        seqs,
      );
    },
  },
  {
    name: 'keeps over a crash what was appended before a sync resolved, whole',
    run: async ({ log, afterCrash }) => {
      const event = log.append({ type: 'x', text: 'ä\n"<\u0000' }, 'run');
      await log.sync();
      deepStrictEqual((await afterCrash()).at(-1), event);
    },
  },
];

export interface MessagingPortSubject {
  readonly ports: MessagingPorts;
  readonly parent: Peer;
  /** A child of `parent`. */
  readonly child: Peer;
  /** The root of another tree. */
  readonly stranger: Peer;
  /** Takes the child out, as a revert of its parent does. */
  readonly removeChild: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const NOBODY = '00000000-0000-4000-8000-00000000dead';

/** What every implementation of the ports owes. */
export const messagingPortCases: readonly ContractCase<MessagingPortSubject>[] = [
  {
    name: 'finds sessions of any tree, and null for nobody',
    run: async ({ ports: { directory }, child, stranger }) => {
      for (const { sessionId, handle, rootId, parentId } of [child, stranger]) {
        const found = await directory.find(sessionId);
        deepStrictEqual(
          [found?.sessionId, found?.handle, found?.rootId, found?.parentId],
          [sessionId, handle, rootId, parentId],
        );
      }
      strictEqual(await directory.find(NOBODY), null);
    },
  },
  {
    name: 'lists one tree with its root, and no other',
    run: async ({ ports: { directory }, parent, child, stranger }) => {
      const ids = (await directory.tree(parent.rootId)).map(({ sessionId }) => sessionId);
      ok(ids.includes(parent.sessionId) && ids.includes(child.sessionId));
      ok(!ids.includes(stranger.sessionId));
    },
  },
  {
    name: 'forgets a session that was reverted',
    run: async ({ ports: { directory, inboxes }, child, removeChild }) => {
      await removeChild();
      strictEqual(await directory.find(child.sessionId), null);
      const left = await directory.tree(child.rootId);
      strictEqual(
        left.find(({ sessionId }) => sessionId === child.sessionId),
        undefined,
      );
      await rejects(inboxes.use(child.sessionId, async () => undefined));
    },
  },
  {
    name: 'hands out one inbox a session, whoever asks',
    run: async ({ ports: { inboxes }, child }) => {
      await inboxes.use(child.sessionId, async ({ inbox, sync }) => {
        const draft = {
          owner: 'agent',
          from: 'a_00000000',
          mode: 'steer',
          idempotencyKey: 'k',
          body: 'b',
        } as const;
        const { messageId } = inbox.accept(draft);
        await sync();
        const again = await inboxes.use(child.sessionId, async (held) => held.inbox.receiptOf('k'));
        strictEqual(again?.messageId, messageId);
      });
    },
  },
  {
    name: 'refuses before the work began once it stops',
    run: async ({ ports: { inboxes, shutdown }, child, stop }) => {
      let begun = false;
      await stop();
      strictEqual(shutdown.aborted, true);
      await rejects(inboxes.use(child.sessionId, async () => void (begun = true)));
      strictEqual(begun, false);
    },
  },
  {
    name: 'wakes at once, as often as it is asked, and never throws',
    run: async ({ ports: { waker }, child }) => {
      waker.wake(child.sessionId);
      waker.wake(child.sessionId);
      waker.wake(NOBODY);
    },
  },
];
