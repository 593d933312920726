import type { EventPayload } from '@agentd/contract';
import type { EngineEvent, EventOf } from './events.ts';

/** What a user said and no committed turn has taken into account. */
export interface PendingInput {
  readonly inputId: string;
  readonly text: string;
  readonly kind: 'prompt' | 'steer';
  readonly seq: number;
}

/** Workspace notes that were read again after the session had begun. */
interface PendingNotes {
  readonly notes: EventOf<'agents_md_loaded'>;
  readonly text: string;
  readonly seq: number;
}

/** A message that the run has claimed (MSG-10). */
interface ClaimedText {
  readonly messageId: string;
  readonly text: string;
  readonly seq: number;
}

/** What a turn took into account. */
export interface TakenInputs {
  /** Everything, in order, as the history shows it. */
  readonly texts: readonly string[];
  /** What a user said. */
  readonly said: readonly string[];
  /** The newest notes of the workspace that were read again; null without any. */
  readonly notes: EventOf<'agents_md_loaded'> | null;
}

/**
 * What enters a session from outside and waits for the next turn.
 *   I1. A message enters with its claim and leaves with its release; of two claims the later one counts.
 *   I2. What a turn has taken in stays with that turn, whatever its message's events say afterwards.
 */
export class InputLedger {
  #waiting: (PendingInput | PendingNotes | ClaimedText)[] = [];
  readonly #taken = new Set<string>();
  #notes: EventOf<'agents_md_loaded'> | null = null;
  #begun = false;

  /** What the workspace said to its agents before the first turn. */
  get notes(): EventOf<'agents_md_loaded'> | null {
    return this.#notes;
  }

  get pending(): readonly PendingInput[] {
    return this.#waiting.filter((entry) => 'inputId' in entry);
  }

  /** Everything that waits, in order. */
  get texts(): readonly string[] {
    return this.#waiting.map(({ text }) => text);
  }

  apply({ payload, seq }: EngineEvent): void {
    switch (payload.type) {
      case 'agents_md_loaded':
        if (this.#notes === null && !this.#begun) this.#notes = payload;
        else this.#waiting.push({ notes: payload, text: agentsMdText(payload), seq });
        return;
      case 'user_input_submitted': {
        const { input_id: inputId, text, kind } = payload;
        this.#waiting.push({ inputId, text, kind, seq });
        return;
      }
      case 'user_input_recalled': {
        const { input_id: recalled } = payload;
        this.#waiting = this.#waiting.filter((entry) => !('inputId' in entry) || entry.inputId !== recalled);
        return;
      }
      default:
        this.#applyMessage(payload as EventPayload, seq);
    }
  }

  /** Takes what a turn had taken into account: everything up to the event `throughSeq`. */
  take(throughSeq: number): TakenInputs {
    this.#begun = true;
    const taken = this.#waiting.filter(({ seq }) => seq <= throughSeq);
    this.#waiting = this.#waiting.filter(({ seq }) => seq > throughSeq);
    for (const entry of taken) if ('messageId' in entry) this.#taken.add(entry.messageId);
    return {
      texts: taken.map(({ text }) => text),
      said: taken.flatMap((entry) => ('inputId' in entry ? [entry.text] : [])),
      notes: taken.flatMap((entry) => ('notes' in entry ? [entry.notes] : [])).at(-1) ?? null,
    };
  }

  /** Their schemas belong to who writes them: what is damaged or not known is passed over. */
  #applyMessage({ type, message_id: messageId, text }: EventPayload, seq: number): void {
    if (type !== 'message_claimed' && type !== 'message_released') return;
    if (typeof messageId !== 'string' || this.#taken.has(messageId)) return;
    this.#waiting = this.#waiting.filter((entry) => !('messageId' in entry) || entry.messageId !== messageId);
    if (type === 'message_claimed' && typeof text === 'string') this.#waiting.push({ messageId, text, seq });
  }
}

/** What a workspace says to its agents, as a turn of the user (CFG-1). */
export function agentsMdText({ path, text }: EventOf<'agents_md_loaded'>): string {
  return `<agents_md path=${JSON.stringify(path)}>\n${text}\n</agents_md>`;
}
