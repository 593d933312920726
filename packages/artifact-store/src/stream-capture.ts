import { createHash } from 'node:crypto';
import type { OutputDeclaration, OutputLimits, StreamName } from '@agentd/contract';
import type { CaptureBudget } from './capture-budget.ts';
import type { FaultLatch } from './errors.ts';
import { Preview } from './preview.ts';
import { MAX_PREVIEW_BYTES } from './result-text.ts';
import type { TemporaryFile } from './temporary-file.ts';
import { TerminalText } from './terminal-text.ts';
import { TextPieces, countLineFeeds, encodePiece, encodeUtf8, endsInLine, tornBytes } from './utf8.ts';

/** What the streams of a call share. */
export interface CallCapture {
  readonly declaration: OutputDeclaration;
  readonly limits: OutputLimits;
  readonly budget: CaptureBudget;
  readonly fault: FaultLatch;
}

/** What is stored of a stream. */
export interface StoredStream {
  readonly sha256: string;
  readonly byte_length: number;
  readonly line_count: number;
}

/**
 * One stream on its way to the disk. Text is hashed, counted and previewed as it passes; nothing is read again.
 * The preview sees all text, also what is not stored any more.
 */
export class StreamCapture {
  readonly name: StreamName;
  readonly preview: Preview;
  readonly file: TemporaryFile | null;
  readonly #call: CallCapture;
  readonly #pieces = new TextPieces();
  readonly #terminal: TerminalText | null;
  readonly #hash = createHash('sha256');
  #byteLength = 0;
  #lineFeeds = 0;
  #endsInLine = false;

  /** `file` is null where none could be opened; the fault is latched then. */
  constructor(name: StreamName, file: TemporaryFile | null, call: CallCapture) {
    this.name = name;
    this.file = file;
    this.#call = call;
    this.preview = new Preview(Math.min(call.limits.maxBytes, MAX_PREVIEW_BYTES));
    this.#terminal = call.declaration.terminal === true ? new TerminalText() : null;
  }

  /** Resolves once the text is accepted; waits for the disk where too much is queued (OUT-12). */
  async accept(text: string): Promise<void> {
    for (const piece of this.#pieces.push(text)) {
      this.#acceptPiece(piece);
      if (this.file?.isFull === true) await this.#waitForRoom(this.file);
    }
  }

  /** Takes what a dead process left in the file, less a torn character at its end. */
  async restore(): Promise<void> {
    const { file } = this;
    if (file === null) return;
    let rest: Uint8Array = new Uint8Array(0);
    for await (const chunk of file.chunks()) {
      const bytes = Buffer.concat([rest, chunk]);
      const whole = bytes.subarray(0, bytes.length - tornBytes(bytes));
      rest = bytes.subarray(whole.length);
      this.#count(whole, this.#show(whole.toString(), whole));
    }
    await file.keep(this.#byteLength);
  }

  /** Takes no more text; resolves once the file holds all that is to be stored. */
  async seal(): Promise<StoredStream> {
    this.#acceptPiece(this.#pieces.flush());
    await this.file?.seal();
    return {
      sha256: this.#hash.digest('hex'),
      byte_length: this.#byteLength,
      line_count: this.#lineFeeds + (this.#endsInLine ? 1 : 0),
    };
  }

  #acceptPiece(piece: string): void {
    if (piece === '') return;
    const bytes = encodePiece(piece);
    const lineFeeds = this.#show(piece, bytes);
    const { budget, fault } = this.#call;
    if (this.file === null || fault.tripped) return;
    const stored = budget.take(bytes);
    if (stored.length === 0) return;
    this.file.write(stored);
    this.#count(stored, stored.length === bytes.length ? lineFeeds : countLineFeeds(stored));
  }

  /** Returns the LF of the text: the preview counts them anyway, and loses none. */
  #show(text: string, bytes: Uint8Array): number {
    const before = this.preview.lineFeeds;
    const step = this.#terminal?.push(text);
    if (step?.restartLine === true) this.preview.restartLine();
    this.preview.append(step === undefined || step.text === text ? bytes : encodeUtf8(step.text));
    return this.preview.lineFeeds - before;
  }

  #count(bytes: Uint8Array, lineFeeds: number): void {
    if (bytes.length === 0) return;
    this.#hash.update(bytes);
    this.#byteLength += bytes.length;
    this.#lineFeeds += lineFeeds;
    this.#endsInLine = endsInLine(bytes);
  }

  async #waitForRoom(file: TemporaryFile): Promise<void> {
    try {
      await file.room();
    } catch (error) {
      this.#call.fault.trip(error);
      await file.letGo();
    }
  }
}
