import type { Readable } from 'node:stream';
import type { Clock, ExecuteContext } from '@agentd/contract';
import { DeltaQueue, MAX_DELTA_BYTES } from './delta-queue.ts';

/** Reading stops above the first and goes on below the second; between them disk and command work side by side. */
const PAUSE_ABOVE_BYTES = 4 * MAX_DELTA_BYTES;
const RESUME_BELOW_BYTES = 2 * MAX_DELTA_BYTES;

/** Small output is collected this long after a report, so that a chatty command costs few events. */
const COLLECT_MS = 10;

/** What is worth a report at once. */
const ENOUGH_BYTES = MAX_DELTA_BYTES / 2;

export interface PumpPorts {
  readonly report: ExecuteContext['report'];
  readonly clock: Clock;
}

/**
 * Carries what a command prints to the runtime.
 *   P1. Every byte that was read is reported, once, in the order of its stream (BASH-9).
 *   P2. One report at a time; while it waits, at most `PAUSE_ABOVE_BYTES` and one read a stream are held (OUT-12).
 *   P3. A character cut by a read stays whole; what is no UTF-8 becomes U+FFFD (BASH-8).
 *   P4. The first small output after a silence is reported at once.
 */
export class OutputPump {
  readonly #ports: PumpPorts;
  readonly #sources: readonly Readable[];
  readonly #queue = new DeltaQueue();
  readonly #open = new Set<Readable>();
  #loop: Promise<void> = Promise.resolve();
  #running = false;
  #paused = false;
  #wake = (): void => undefined;
  #lastReportAt = 0;
  #lastActiveAt: number;
  #resumedAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly thrown: unknown } | undefined;
  /** Bytes that each stream may still bring; for the end of a call whose pipes are held by others. */
  readonly #allowance = new Map<Readable, number>();

  /** Resolves when every stream has ended; its text may still wait. */
  readonly closed: Promise<void>;
  /** Resolves when the runtime has refused a report, and only then. */
  readonly refused: Promise<void>;
  #close = (): void => undefined;
  #refuse = (): void => undefined;

  constructor(sources: Readonly<Record<string, Readable>>, ports: PumpPorts) {
    this.#ports = ports;
    this.#sources = Object.values(sources);
    this.#lastActiveAt = ports.clock.now();
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.refused = new Promise((resolve) => (this.#refuse = resolve));
    for (const [name, source] of Object.entries(sources)) this.#attach(name, source);
  }

  /** For how long nothing was read, since `from` at most; 0 while anything waits to be reported. */
  silentMs(from: number): number {
    if (this.#running) return 0;
    return this.#ports.clock.now() - Math.max(from, this.#lastActiveAt);
  }

  /** Whether reading has gone on unhindered for `ms`, so that nothing older waits in the pipes. */
  isCaughtUp(ms: number): boolean {
    return !this.#paused && this.#ports.clock.now() - this.#resumedAt >= ms;
  }

  /** Ends each stream after `bytes` more. */
  readAtMost(bytes: number): void {
    for (const source of this.#open) this.#allowance.set(source, bytes);
  }

  /** Stops reading and resolves once everything that was read is reported; throws what a report threw. */
  async finish(): Promise<void> {
    for (const source of this.#sources) source.destroy();
    await this.closed;
    await this.#loop;
    if (this.#failure !== undefined) throw this.#failure.thrown;
  }

  #attach(name: string, source: Readable): void {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    this.#open.add(source);
    source.on('data', (bytes: Uint8Array) => {
      this.#accept(name, decoder.decode(this.#allowed(source, bytes), { stream: true }));
    });
    // A pipe that breaks has ended; `close` follows and says so.
    source.on('error', () => undefined);
    source.once('close', () => {
      this.#open.delete(source);
      this.#accept(name, decoder.decode());
      if (this.#open.size === 0) this.#close();
    });
  }

  #allowed(source: Readable, bytes: Uint8Array): Uint8Array {
    const allowance = this.#allowance.get(source);
    if (allowance === undefined) return bytes;
    this.#allowance.set(source, Math.max(0, allowance - bytes.length));
    if (bytes.length >= allowance) source.destroy();
    return bytes.subarray(0, allowance);
  }

  #accept(name: string, text: string): void {
    this.#lastActiveAt = this.#ports.clock.now();
    if (this.#failure !== undefined) return;
    this.#queue.push(name, text);
    if (this.#queue.bytes >= PAUSE_ABOVE_BYTES) this.#pause();
    if (this.#open.size === 0 || this.#queue.bytes >= ENOUGH_BYTES) this.#wake();
    if (!this.#running && this.#queue.bytes > 0) this.#loop = this.#reportAll();
  }

  /** Contract of its one caller: not running. Never rejects. */
  async #reportAll(): Promise<void> {
    this.#running = true;
    try {
      while (this.#queue.bytes > 0) {
        await this.#collect();
        await this.#ports.report({ chunks: this.#queue.take() });
        this.#lastReportAt = this.#ports.clock.now();
        if (this.#queue.bytes < RESUME_BELOW_BYTES) this.#resume();
      }
    } catch (thrown) {
      this.#failure = { thrown };
      this.#refuse();
      for (const source of this.#sources) source.destroy();
    } finally {
      this.#running = false;
      this.#lastActiveAt = this.#ports.clock.now();
    }
  }

  async #collect(): Promise<void> {
    const wait = this.#lastReportAt + COLLECT_MS - this.#ports.clock.now();
    if (wait <= 0 || this.#queue.bytes >= ENOUGH_BYTES || this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#ports.clock.after(wait, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const source of this.#open) source.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#resumedAt = this.#ports.clock.now();
    for (const source of this.#open) source.resume();
  }
}
