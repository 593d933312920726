import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type Clock, type ProcessGuard } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import type { StdioTarget } from '../settings.ts';
import { endChild, endText, startChild, type ServerChild } from './child-process.ts';
import { LineReader } from './line-reader.ts';
import { idOfOversized, type MessageId } from './oversized-answer.ts';

/** One message may be this large; a result of 32 MB with its media in base64 fits. */
export const MAX_MESSAGE_BYTES = 96 * 1024 * 1024;

/** What an answer that was too large says in place of its content; ours, never a server's. */
export const OVERSIZED_CODE = -32_099;

/** After its output has ended a process has this long to end itself, so that its exit code can be told. */
const GRACE_AFTER_OUTPUT_MS = 500;

export interface StdioTransportPorts {
  readonly clock: Clock;
  /** Takes lines of stderr, and what stands on stdout and is no message. */
  readonly log: (line: string) => void;
  /** Absent: a server that ignores the end of its input outlives a SIGKILL of this process. */
  readonly guard?: ProcessGuard;
  /** `MAX_MESSAGE_BYTES` unless given. */
  readonly maxMessageBytes?: number;
}

/**
 * Newline-delimited JSON-RPC with a child process. Ours, because the SDK's own copies its buffer with each chunk, ends
 * the connection for one large message and leaves the helpers of a server behind.
 *   T1. A line that is no message is logged and ignored; all that are messages arrive, in order.
 *   T2. An oversized answer fails the request that it answers, and nothing else.
 *   T3. After `close`, or after the end of this process, nothing that the server started is left in its group.
 *   T4. `onclose` is called once, when the process has ended; `endReason` then says how.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #target: StdioTarget;
  readonly #ports: StdioTransportPorts;
  readonly #unanswered = new Set<MessageId>();
  readonly #maxBytes: number;
  #child: ServerChild | null = null;
  #ending: Promise<void> | null = null;
  #endReason = 'ended';

  constructor(target: StdioTarget, ports: StdioTransportPorts) {
    this.#target = target;
    this.#ports = ports;
    this.#maxBytes = ports.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }

  get endReason(): string {
    return this.#endReason;
  }

  async start(): Promise<void> {
    const child = await startChild(this.#target, this.#ports.guard);
    this.#child = child;
    const messages = new LineReader(
      { line: (text) => this.#receive(text), oversized: (edges) => this.#refuse(edges) },
      this.#maxBytes,
    );
    const notes = new LineReader(
      { line: this.#ports.log, oversized: ({ head }) => this.#ports.log(head) },
      MAX_NOTE_BYTES,
    );
    child.stdout.on('data', (chunk: Buffer) => messages.push(chunk));
    child.stdout.on('end', () => {
      messages.end();
      // Whoever can say nothing any more is of no use, although it may go on running.
      this.#ports.clock.after(GRACE_AFTER_OUTPUT_MS, () => void this.close());
    });
    child.stderr.on('data', (chunk: Buffer) => notes.push(chunk));
    child.on('exit', (code, signal) => {
      this.#endReason = endText(code, signal);
      notes.end();
      void this.close();
    });
    // A process may have ended before anybody listened.
    if (child.exitCode !== null || child.signalCode !== null) {
      this.#endReason = endText(child.exitCode, child.signalCode);
      void this.close();
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#ending !== null || !child.stdin.writable) {
      throw mcpError('MCP_CLOSED', this.#endReason);
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(mcpError('MCP_CLOSED', this.#endReason, { cause: error }));
      });
    });
  }

  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    // What it said with its last breath is still in the pipes.
    if (child !== null && hasExited(child)) await drained(child, this.#ports.clock);
    const ended = child === null ? Promise.resolve() : endChild(child, this.#ports.clock);
    this.onclose?.();
    await ended;
  }

  #receive(text: string): void {
    const message = parsed(text);
    if (message === null) {
      if (text.trim() !== '') this.#ports.log(`stdout: ${text}`);
      return;
    }
    if ('id' in message && !('method' in message)) this.#unanswered.delete(message.id as MessageId);
    this.onmessage?.(message);
  }

  #refuse(edges: { readonly head: string; readonly tail: string; readonly bytes: number }): void {
    const limit = this.#maxBytes / 1024 / 1024;
    const message = `the answer has ${edges.bytes.toLocaleString('en-US')} bytes; at most ${limit} MiB are taken`;
    const known = idOfOversized(edges);
    const ids = known !== null && this.#unanswered.has(known) ? [known] : [...this.#unanswered];
    for (const id of ids) {
      this.#unanswered.delete(id);
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: OVERSIZED_CODE, message } });
    }
  }
}

/** Lines of a log are for people. */
const MAX_NOTE_BYTES = 64 * 1024;

function hasExited({ exitCode, signalCode }: ServerChild): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Helpers may hold the pipes open for ever: not longer than a moment. */
async function drained(child: ServerChild, clock: Clock): Promise<void> {
  const ends = [child.stdout, child.stderr].map((stream) =>
    stream.readableEnded || stream.destroyed
      ? Promise.resolve()
      : new Promise<void>((resolve) => void stream.once('close', resolve)),
  );
  await Promise.race([
    Promise.all(ends),
    new Promise<void>((resolve) => void clock.after(DRAIN_MS, resolve)),
  ]);
}

const DRAIN_MS = 100;

/** A JSON-RPC message; null for anything else. Its inside is checked by whoever asked for it. */
function parsed(text: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return null;
    const hasId = typeof value['id'] === 'string' || typeof value['id'] === 'number';
    if (typeof value['method'] === 'string') return value as unknown as JSONRPCMessage;
    const isAnswer = hasId && (isJsonObject(value['result']) || isErrorBody(value['error']));
    return isAnswer ? (value as unknown as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}

function isErrorBody(value: unknown): boolean {
  return isJsonObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string';
}
