import type { EventEnvelope } from '@agentd/contract';

interface Waiting {
  readonly id: unknown;
  readonly seq: number;
  readonly text: string;
}

/**
 * The texts of messages in a history, read from a log alone, as an engine would: a claim is in the history once a
 * committed turn has taken it in, unless it was released before. Knows nothing of the inbox.
 */
export function historyOf(events: readonly EventEnvelope[]): readonly string[] {
  const history: string[] = [];
  let waiting: readonly Waiting[] = [];
  for (const { seq, payload } of events) {
    const { type, message_id: id } = payload;
    if (type === 'message_claimed' || type === 'message_released')
      waiting = waiting.filter((entry) => entry.id !== id);
    if (type === 'message_claimed') waiting = [...waiting, { id, seq, text: textOf(payload) }];
    if (type !== 'model_turn_committed') continue;
    const through = Number(payload['input_through_seq']);
    history.push(...waiting.filter((entry) => entry.seq <= through).map(({ text }) => text));
    waiting = waiting.filter((entry) => entry.seq > through);
  }
  return history;
}

function textOf({ text }: EventEnvelope['payload']): string {
  if (typeof text !== 'string') throw new Error('a claim has no text');
  return text;
}
