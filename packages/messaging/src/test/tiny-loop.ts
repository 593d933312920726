import type { InboxBoundary } from '@agentd/contract';
import type { MemorySession } from '../testing/memory-tree.ts';

/** One model turn of a script: its calls end when these do. */
export type ScriptedTurn = readonly (() => Promise<unknown>)[];

/**
 * The smallest loop that keeps the boundaries: turns until the model calls nothing and nothing waits.
 * Returns what the model has read at the end, message by message.
 */
export async function tinyRun(
  { inbox, log, record }: MemorySession,
  runId: string,
  script: readonly ScriptedTurn[],
): Promise<readonly string[]> {
  const conversation: string[] = [];
  const claim = (kind: InboxBoundary['kind']): number => {
    const claimed = inbox.claim({ runId, kind, canReply: () => false });
    conversation.push(...claimed.map(({ text }) => text));
    return claimed.length;
  };
  record({ type: 'run_started' }, runId);
  claim('run_start');
  for (let turn = 0; ; turn += 1) {
    const through = log.events.at(-1)?.seq ?? 0;
    const calls = script[turn] ?? [];
    record({ type: 'model_turn_committed', input_through_seq: through }, runId);
    inbox.acknowledge();
    conversation.push(`turn ${turn}`);
    const results = calls.map(async (call, index) => {
      await call();
      return `result ${turn}.${index}`;
    });
    conversation.push(...(await Promise.all(results)));
    if (calls.length > 0) claim('between_calls');
    else if (claim('run_end') === 0) break;
  }
  record({ type: 'run_completed' }, runId);
  inbox.release();
  await log.sync();
  return conversation;
}
