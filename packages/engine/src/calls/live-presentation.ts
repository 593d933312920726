import type { Clock, ToolCallId } from '@agentd/contract';
import type { EventSink, LiveListener } from '../ports.ts';
import { presentable } from './bounded-text.ts';

export interface PresentationPorts {
  readonly clock: Clock;
  readonly sink: EventSink;
  readonly live: LiveListener;
}

/** What all messages and displays of a call may take together (OUT-9). */
const BUDGET_BYTES = 64 * 1024;
/** A message becomes an event at most this often (EVT-2). */
const RECORD_EVERY_MS = 1000;

/**
 * What people see of a running call.
 *   L1. Past its budget it falls silent, and nothing else happens (OUT-9).
 *   L2. A changed message is recorded at once or, within a second of the last record, at the end of that second.
 *   L3. Nothing is shown or recorded after `close`.
 */
export class LivePresentation {
  readonly #callId: ToolCallId;
  readonly #ports: PresentationPorts;
  #spent = 0;
  #message: string | null = null;
  #recorded: string | null = null;
  #recordedAt = -Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(callId: ToolCallId, ports: PresentationPorts) {
    this.#callId = callId;
    this.#ports = ports;
  }

  message(raw: string): void {
    const text = presentable(raw);
    if (!this.#spend(text)) return;
    this.#ports.live({ type: 'tool_message', tool_call_id: this.#callId, text });
    this.#message = text;
    this.#record();
  }

  display(raw: string): void {
    const text = presentable(raw);
    if (this.#spend(text)) this.#ports.live({ type: 'tool_display', tool_call_id: this.#callId, text });
  }

  close(): void {
    this.#spent = Infinity;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #spend(text: string): boolean {
    this.#spent += Buffer.byteLength(text);
    if (this.#spent <= BUDGET_BYTES) return true;
    this.#spent = Infinity;
    return false;
  }

  #record(): void {
    if (this.#cancelTimer !== null || this.#message === this.#recorded || this.#message === null) return;
    const { clock, sink } = this.#ports;
    const wait = this.#recordedAt + RECORD_EVERY_MS - clock.now();
    if (wait > 0) {
      this.#cancelTimer = clock.after(wait, () => {
        this.#cancelTimer = null;
        this.#recordLater();
      });
      return;
    }
    this.#recorded = this.#message;
    this.#recordedAt = clock.now();
    sink.append({ type: 'tool_call_progress', tool_call_id: this.#callId, message: this.#message });
  }

  /** A timer has nobody to throw to; a log that takes no more events is found out by the call's terminal event. */
  #recordLater(): void {
    try {
      this.#record();
    } catch {
      this.close();
    }
  }
}
