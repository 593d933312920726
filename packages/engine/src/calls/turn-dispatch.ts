import type { ToolCallId } from '@agentd/contract';
import { cancelledEnd, NOT_STARTED, type CallEnd, type ReadyCall, type StagedCall } from './call-stages.ts';
import { CallExecution, type ExecutePorts } from './execute-call.ts';
import { KeyLock, type Unlock } from './key-lock.ts';
import { schedule } from './schedule.ts';
import { settleWithGrace } from './settle-with-grace.ts';
import { StdinChannel } from './stdin-channel.ts';

/**
 * The last phase of a turn: every call ends, and its terminal event reaches the disk (SCH-11).
 *   D1. Per call: key lock → revalidate → execute → publish → terminal event → sync → guard → dispose.
 *   D2. Calls with equal keys run one after the other, in call order; the key is held up to the terminal event (SCH-4).
 *   D3. After a cancellation nothing starts; what waits ends as cancelled (SCH-10).
 */
export class TurnDispatch {
  readonly #ports: ExecutePorts;
  readonly #channels: Map<ToolCallId, StdinChannel> | null;
  readonly #locks = new KeyLock();
  readonly #ends = new Map<ToolCallId, CallEnd>();
  readonly #disposals = new Map<ToolCallId, Promise<unknown>>();

  /** `channels` receives the input channel of each call while it runs; null where nobody can send any. */
  constructor(ports: ExecutePorts, channels: Map<ToolCallId, StdinChannel> | null) {
    this.#ports = ports;
    this.#channels = channels;
  }

  /** The ends by call. Rejects only when the log fails, and then not before everything has stopped. */
  async run(calls: readonly StagedCall[], signal: AbortSignal): Promise<ReadonlyMap<ToolCallId, CallEnd>> {
    const phases = await Promise.allSettled([
      this.#endSettled(calls),
      schedule(
        calls.filter((call) => call.stage === 'ready'),
        {
          overlaps: ({ tool }) => tool.spec.concurrency === 'parallel',
          run: (call) => this.#runReady(call, signal),
        },
      ),
    ]);
    const failed = phases.find((phase) => phase.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return this.#ends;
  }

  /** Frees what preparation holds, once for each call; a tool that fails or hangs here holds nobody up. */
  async dispose(calls: readonly StagedCall[]): Promise<void> {
    await Promise.all(calls.map((call) => this.#disposeOnce(call)));
  }

  #disposeOnce({ callId, operation }: StagedCall): Promise<unknown> {
    const known = this.#disposals.get(callId);
    if (known !== undefined || operation === null) return known ?? Promise.resolve();
    const terms = { clock: this.#ports.clock, signal: AbortSignal.abort() };
    const disposal = settleWithGrace(() => operation.dispose(), terms);
    this.#disposals.set(callId, disposal);
    return disposal;
  }

  /** Calls that ended before they could run: their siblings do not wait for them, nor they for their siblings (SCH-8). */
  async #endSettled(calls: readonly StagedCall[]): Promise<void> {
    const settled = calls.filter((call) => call.stage === 'settled');
    if (settled.length === 0) return;
    for (const { callId, end } of settled) this.#terminate(callId, end);
    await this.#ports.sink.sync();
    await this.dispose(settled);
  }

  async #runReady(call: ReadyCall, signal: AbortSignal): Promise<void> {
    const unlock = await this.#lock(call, signal);
    let end: CallEnd;
    try {
      end = unlock === null ? cancelledEnd(NOT_STARTED) : await this.#execute(call, signal);
      this.#terminate(call.callId, end);
    } finally {
      unlock?.();
    }
    try {
      await this.#ports.sink.sync();
    } finally {
      await end.release?.();
      await this.dispose([call]);
    }
  }

  /** Null when the call was cancelled while it waited. */
  async #lock({ operation }: ReadyCall, signal: AbortSignal): Promise<Unlock | null> {
    if (operation.serializationKey === null) return () => undefined;
    try {
      return await this.#locks.acquire(operation.serializationKey, signal);
    } catch {
      return null; // the signal's reason
    }
  }

  async #execute(call: ReadyCall, signal: AbortSignal): Promise<CallEnd> {
    const execution = new CallExecution(this.#ports, call, signal);
    if (this.#channels === null) return execution.run(null);
    const channel = new StdinChannel();
    this.#channels.set(call.callId, channel);
    try {
      return await execution.run(channel);
    } finally {
      this.#channels.delete(call.callId);
      channel.close();
    }
  }

  #terminate(callId: ToolCallId, end: CallEnd): void {
    this.#ends.set(callId, end);
    const { outcome, result, error } = end;
    this.#ports.sink.append({
      type: 'tool_call_terminated',
      tool_call_id: callId,
      outcome,
      result: result === null ? null : { ...result, attachments: [...result.attachments] },
      error: error === null ? null : { ...error },
    });
  }
}
