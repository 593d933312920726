import { messageOf } from '@agentd/contract';
import type { Clock, RunId, SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';
import { isTooDeep } from '../event-shape.ts';
import type { EngineEvent, LoggedPayload } from '../events.ts';
import { MAX_LINE_BYTES } from '../line-splitter.ts';
import type { EventLog } from '../ports.ts';
import { encodeEvent } from './event-line.ts';
import type { LogFile } from './log-file.ts';

export interface FileEventLogInit {
  readonly file: LogFile;
  readonly sessionId: SessionId;
  readonly clock: Clock;
  readonly engineVersion: string;
  /** Number of the last event in the file. */
  readonly lastSeq: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Appends events to one file.
 *   L1. Numbers rise by one in the order of `append`, and lines stand in the file in that order.
 *   L2. `sync` resolves only after everything appended before it is on disk.
 *   L3. While one disk sync runs, all who come wait for the next one together (SES-2).
 *   L4. After a fault nothing is written any more, and everyone who waits or comes later is told.
 */
export class FileEventLog implements EventLog {
  readonly #init: FileEventLogInit;
  #seq: number;
  #lines: string[] = [];
  #waiters: Waiter[] = [];
  #pump: Promise<void> | null = null;
  #unsynced = false;
  #failure: unknown = undefined;
  #closing: Promise<void> | null = null;

  constructor(init: FileEventLogInit) {
    this.#init = init;
    this.#seq = init.lastSeq;
  }

  append(payload: LoggedPayload, runId: RunId | null): EngineEvent {
    if (this.#closing !== null) throw engineError('ENGINE_LOG_FAILED', 'the log of the session is closed');
    if (isTooDeep(payload)) throw engineError('ENGINE_LOG_FAILED', 'an event nests too deep to be kept');
    const { sessionId, clock, engineVersion } = this.#init;
    const { event, line } = encodeEvent({
      seq: this.#seq + 1,
      session_id: sessionId,
      run_id: runId,
      timestamp: new Date(clock.now()).toISOString(),
      engine_version: engineVersion,
      payload,
    });
    if (Buffer.byteLength(line) > MAX_LINE_BYTES) {
      throw engineError('ENGINE_LOG_FAILED', `an event of ${line.length} characters is too large to be kept`);
    }
    this.#seq += 1;
    // After a fault the event still gets its number: whoever syncs is told, and nothing piles up here.
    if (this.#failure === undefined) this.#lines.push(line);
    this.#start();
    return event;
  }

  sync(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#start();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#pump;
      await this.#init.file.close();
    }
  }

  #start(): void {
    this.#pump ??= this.#run();
  }

  async #run(): Promise<void> {
    // What a caller appends without a pause goes to disk together.
    await Promise.resolve();
    while (this.#lines.length > 0 || this.#waiters.length > 0) await this.#writeBatch();
    this.#pump = null;
  }

  async #writeBatch(): Promise<void> {
    const lines = this.#lines;
    const waiters = this.#waiters;
    this.#lines = [];
    this.#waiters = [];
    try {
      if (lines.length > 0) await this.#write(lines);
      if (waiters.length > 0 && this.#unsynced) await this.#sync();
    } catch (error) {
      this.#fail(error);
    }
    for (const { resolve, reject } of waiters) {
      if (this.#failure === undefined) resolve();
      else reject(this.#failure);
    }
  }

  async #write(lines: readonly string[]): Promise<void> {
    this.#unsynced = true;
    await this.#init.file.append(Buffer.from(lines.join('')));
  }

  async #sync(): Promise<void> {
    await this.#init.file.sync();
    this.#unsynced = false;
  }

  #fail(cause: unknown): void {
    this.#failure ??= engineError(
      'ENGINE_LOG_FAILED',
      `the log of session ${this.#init.sessionId} cannot be written: ${messageOf(cause)}`,
      { cause },
    );
    this.#lines = [];
  }
}
