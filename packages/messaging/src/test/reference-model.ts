import type { MessageMode } from '@agentd/contract';
import type { MessagingSettings } from '../settings.ts';

/** What was sent, in the order of acceptance. */
interface Sent {
  readonly key: string;
  readonly from: string;
  readonly mode: MessageMode;
  readonly seq: number;
}

interface Claim {
  readonly key: string;
  readonly seq: number;
  releasedAt: number;
}

/** A turn: what was in the log when its request was made, and where it was committed. */
interface Turn {
  readonly through: number;
  readonly seq: number;
}

/**
 * A plain list of what happened to one inbox; every answer is worked out from all of it, anew each time. A crash
 * forgets what came after the part of the log that was kept.
 */
export class ReferenceModel {
  #sent: Sent[] = [];
  #claims: Claim[] = [];
  #turns: Turn[] = [];
  readonly #told = new Set<string>();

  accept(sent: Sent): void {
    this.#sent.push(sent);
  }

  tell(key: string): void {
    this.#told.add(key);
  }

  get told(): readonly string[] {
    return [...this.#told];
  }

  knows(key: string): boolean {
    return this.#sent.some((sent) => sent.key === key);
  }

  claim(key: string, seq: number): void {
    this.#claims.push({ key, seq, releasedAt: Infinity });
  }

  release(seq: number): void {
    for (const claim of this.#claims)
      if (!this.#isRead(claim)) claim.releasedAt = Math.min(claim.releasedAt, seq);
  }

  commit(turn: Turn): void {
    this.#turns.push(turn);
  }

  crash(through: number): void {
    this.#sent = this.#sent.filter(({ seq }) => seq <= through);
    this.#claims = this.#claims
      .filter(({ seq }) => seq <= through)
      .map((claim) => ({ ...claim, releasedAt: claim.releasedAt > through ? Infinity : claim.releasedAt }));
    this.#turns = this.#turns.filter(({ seq }) => seq <= through);
    this.release(through + 0.5);
  }

  /** Accepted and not read. */
  pending(from?: string): readonly string[] {
    return this.#sent
      .filter((sent) => from === undefined || sent.from === from)
      .filter(({ key }) => !this.#claims.some((claim) => claim.key === key && this.#isRead(claim)))
      .map(({ key }) => key);
  }

  /** What a boundary must hand out. */
  due(kind: 'run_start' | 'between_calls' | 'run_end'): readonly string[] {
    const claimed = new Set(
      this.#claims.filter((claim) => claim.releasedAt === Infinity).map(({ key }) => key),
    );
    const modes = new Map(this.#sent.map(({ key, mode }) => [key, mode]));
    return this.pending()
      .filter((key) => !claimed.has(key))
      .filter((key) => kind !== 'between_calls' || modes.get(key) === 'steer');
  }

  /** What the next send of this sender meets. */
  verdict(from: string, { maxPendingPerSession, maxInflightPerPair }: MessagingSettings): string {
    if (this.pending().length >= maxPendingPerSession) return 'send_message:inbox_full';
    if (maxInflightPerPair > 0 && this.pending(from).length >= maxInflightPerPair)
      return 'send_message:inflight_full';
    return 'accepted';
  }

  /** Keys in the order in which turns read them. */
  get read(): readonly string[] {
    return this.#turns.flatMap((turn) =>
      this.#claims.filter((claim) => this.#readBy(claim) === turn).map(({ key }) => key),
    );
  }

  /** Keys of one sender and mode in the order of acceptance. */
  lane(from: string, mode: MessageMode): readonly string[] {
    return this.#sent.filter((sent) => sent.from === from && sent.mode === mode).map(({ key }) => key);
  }

  #isRead(claim: Claim): boolean {
    return this.#readBy(claim) !== undefined;
  }

  #readBy({ seq, releasedAt }: Claim): Turn | undefined {
    return this.#turns.find((turn) => seq <= turn.through && turn.seq < releasedAt);
  }
}
