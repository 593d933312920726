import type { EngineEvent, EventOf } from '../events.ts';
import type { Step } from '../session-state.ts';

export type Checkpoint = EventOf<'context_checkpoint_committed'>;
export type RehydratedFile = EventOf<'context_rehydrated'>['files'][number];

export interface WrittenSummary {
  readonly text: string;
  readonly covered: number;
}

/** What was taken out of the history, and how large it was when a provider last counted it. */
export interface ContextView {
  /** Stands in for the first `covered` steps. */
  readonly checkpoint: Checkpoint | null;
  readonly covered: number;
  /** Files that were read again after the checkpoint. */
  readonly files: readonly RehydratedFile[];
  /** The notes of the workspace that the covered steps had read last; null where they had read none. */
  readonly notes: EventOf<'agents_md_loaded'> | null;
  /** The newest summary that a model wrote, and how many steps it stands for. */
  readonly summary: WrittenSummary | null;
  /** How many checkpoints were made. */
  readonly checkpoints: number;
  /**
   * Tokens of the newest turn, its input and its output, as its provider counted them; null where it did not, and
   * from a checkpoint to the next turn.
   */
  readonly reported: number | null;
  /** Tokens that were taken out of it since. */
  readonly saved: number;
  /** Grows with each change to what the history shows of finished steps. */
  readonly revision: number;
}

/**
 * What the log says of the size of the history.
 *   E1. The newest checkpoint counts; one that covers no more than the last is none.
 *   E2. What a provider counted holds for the turn that it was recorded for, and no longer than to the next.
 */
export class ContextLedger implements ContextView {
  checkpoint: Checkpoint | null = null;
  covered = 0;
  files: readonly RehydratedFile[] = [];
  notes: EventOf<'agents_md_loaded'> | null = null;
  summary: WrittenSummary | null = null;
  checkpoints = 0;
  reported: number | null = null;
  saved = 0;
  revision = 0;
  #awaitsUsage = false;

  /** `steps` are those that were committed before the event. */
  apply({ payload }: EngineEvent, steps: readonly Step[]): void {
    switch (payload.type) {
      case 'model_turn_committed':
        this.#count(null, true);
        return;
      case 'model_usage_recorded':
        // The usage of a summary follows no turn.
        if (this.#awaitsUsage) this.#count(payload.input_tokens + payload.output_tokens || null, false);
        return;
      case 'context_checkpoint_committed':
        if (payload.through_seq > (this.checkpoint?.through_seq ?? 0)) this.#cover(payload, steps);
        return;
      case 'context_rehydrated':
        if (this.checkpoint === null) return;
        this.files = payload.files;
        this.revision += 1;
        return;
      default:
    }
  }

  /** A result was taken out, which saves so many tokens. */
  elided(tokens: number): void {
    this.saved += tokens;
    this.revision += 1;
  }

  #count(tokens: number | null, awaitsUsage: boolean): void {
    this.reported = tokens;
    this.saved = 0;
    this.#awaitsUsage = awaitsUsage;
  }

  #cover(checkpoint: Checkpoint, steps: readonly Step[]): void {
    while ((steps[this.covered]?.seq ?? Number.POSITIVE_INFINITY) <= checkpoint.through_seq) {
      this.notes = steps[this.covered]?.notes ?? this.notes;
      this.covered += 1;
    }
    this.checkpoint = checkpoint;
    if (checkpoint.model !== null) this.summary = { text: checkpoint.summary, covered: this.covered };
    this.checkpoints += 1;
    this.files = [];
    this.revision += 1;
    this.#count(null, false);
  }
}
