import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '@agentd/contract';
import type { McpExtra, McpProgress } from './mcp-shapes.ts';

/** Somebody who watches reads no faster. */
const PACE_MS = 250;
/** Clients renew their time limit with each sign of life; the shortest limits in use are ten times this. */
const ALIVE_MS = 3000;
/** Enough for a line of a display. */
const TAIL_LENGTH = 300;

/**
 * Tells the client of a running call that it is alive, and what it says.
 *   P1. The numbers rise strictly, from 1.
 *   P2. One notification is on its way at most, and PACE_MS lie between two.
 *   P3. While nothing is said, one comes each ALIVE_MS.
 *   P4. After `close` nothing is sent.
 */
export class ProgressFeed {
  readonly #send: (notification: McpProgress) => Promise<void>;
  readonly #token: string | number;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #lastAt: number;
  #count = 0;
  #tail = '';
  #said = false;
  #cancelTimer: (() => void) | null = null;
  #sending = false;
  #closed = false;

  private constructor(token: string | number, extra: Pick<McpExtra, 'sendNotification'>, clock: Clock) {
    this.#token = token;
    this.#send = extra.sendNotification;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#lastAt = -Infinity;
    this.#arm(ALIVE_MS);
  }

  /** Null where the client asked for no progress. */
  static of(extra: Pick<McpExtra, '_meta' | 'sendNotification'>, clock: Clock): ProgressFeed | null {
    const { _meta: meta } = extra;
    const token = meta?.progressToken;
    return token === undefined ? null : new ProgressFeed(token, extra, clock);
  }

  /** Takes what the call prints; its last line is passed on. */
  output(text: string): void {
    this.#tail = `${this.#tail}${text}`.slice(-TAIL_LENGTH);
    this.#news();
  }

  /** Takes what the call says of itself. */
  message(text: string): void {
    this.#tail = `\n${text}`.slice(-TAIL_LENGTH);
    this.#news();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #news(): void {
    if (this.#said) return;
    this.#said = true;
    this.#next();
  }

  /** Plans the next notification, anew where something was said. */
  #next(): void {
    if (this.#closed || this.#sending) return;
    this.#cancelTimer?.();
    const since = this.#clock.now() - this.#lastAt;
    const wait = (this.#said ? PACE_MS : ALIVE_MS) - since;
    if (wait > 0) this.#arm(wait);
    else void this.#tell();
  }

  #arm(ms: number): void {
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.#cancelTimer = null;
      void this.#tell();
    });
  }

  async #tell(): Promise<void> {
    this.#sending = true;
    const message = this.#text();
    this.#said = false;
    this.#lastAt = this.#clock.now();
    const params = { progressToken: this.#token, progress: ++this.#count, message };
    // A client that is gone hears nothing; the call learns of it by its signal.
    await this.#send({ method: 'notifications/progress', params }).catch(() => undefined);
    this.#sending = false;
    this.#next();
  }

  #text(): string {
    const seconds = Math.floor((this.#clock.now() - this.#startedAt) / 1000);
    return (this.#said ? lastLine(this.#tail) : '') || `running for ${seconds} s`;
  }
}

function lastLine(text: string): string {
  const line =
    stripVTControlCharacters(text)
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? '';
  return line
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
}
