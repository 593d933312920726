import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  JSONRPCMessageSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { LineSplitter } from './line-splitter.ts';

/** Far more than any file that a tool takes; a line beyond it is no message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

type Id = string | number;

/**
 * One JSON message a line. Its own, because the SDK's copies a long line again with each chunk and gives up for good on
 * one line that is too long.
 *   T1. Time and memory are in proportion to a message, and no line costs more than the others.
 *   T2. A line that is no message is answered with an error, where it tells whom to answer with its id, and forgotten.
 *   T3. `quiet` resolves once every request has its answer, written, or was cancelled.
 *   T4. After the input's end, or a fault of either stream, `ended` resolves.
 */
export class StdioTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly ended: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES);
  readonly #open = new Set<Id>();
  readonly #end: () => void;
  #whenQuiet: (() => void) | null = null;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData);
    this.#input.once('end', this.#onEnd);
    this.#input.once('error', this.#end);
    this.#output.once('error', this.#end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message.id);
  }

  async quiet(): Promise<void> {
    if (this.#open.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenQuiet = resolve;
    await promise;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#onData);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#lines.push(chunk)) this.#take(line);
  };

  readonly #onEnd = (): void => {
    const rest = this.#lines.end();
    if (rest !== null) this.#take(rest);
    this.#end();
  };

  /** Null stands for a line that was too long. */
  #take(line: string | null): void {
    if (line === null) {
      this.#refuse({ code: INVALID_REQUEST, message: `a message has ${MAX_MESSAGE_BYTES} bytes at most` });
      return;
    }
    if (line.trim() === '') return;
    const value = parsed(line);
    if (value === undefined) return this.#refuse({ code: PARSE_ERROR, message: 'this line is not JSON' });
    // Revision 2025-03-26 knows batches.
    for (const one of Array.isArray(value) && value.length > 0 ? value : [value]) this.#deliver(one);
  }

  #deliver(value: unknown): void {
    const { success, data } = JSONRPCMessageSchema.safeParse(value);
    if (!success) {
      this.#refuse({ code: INVALID_REQUEST, message: 'this is no JSON-RPC 2.0 message' }, idOf(value));
      return;
    }
    if (isJSONRPCRequest(data)) this.#open.add(data.id);
    else if ('method' in data && data.method === 'notifications/cancelled') {
      const id = data.params?.['requestId'];
      // Whoever cancels waits for no answer, and gets none.
      if (isId(id)) this.#answered(id);
    }
    this.onmessage?.(data);
  }

  #refuse(error: { readonly code: number; readonly message: string }, id?: Id): void {
    this.onerror?.(new Error(error.message));
    void this.#write({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error });
  }

  #answered(id: Id | undefined): void {
    if (id !== undefined) this.#open.delete(id);
    if (this.#open.size === 0) this.#whenQuiet?.();
  }

  /** Resolves once the text is handed on; a client that is gone is told by `ended`. */
  #write(message: JSONRPCMessage): Promise<void> {
    const text = `${JSON.stringify(message)}\n`;
    return new Promise((resolve) => this.#output.write(text, () => resolve()));
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): Id | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  return isId(value.id) ? value.id : undefined;
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}
