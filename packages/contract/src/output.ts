import type { KeptFiles } from './media.ts';

/** What a tool says of its output before it runs (OUT-1). */
export type OutputDeclaration =
  | { readonly kind: 'single'; readonly terminal?: boolean }
  | {
      readonly kind: 'named';
      /** 1 to 8 unique names; their order is the order of rendering. */
      readonly streams: readonly string[];
      /** The text comes from a terminal program: previews lose its control sequences, artifacts keep them (BASH-8). */
      readonly terminal?: boolean;
    };

/** A stream of a declaration: its name, or null for single output. */
export type StreamName = string | null;

export const MAX_OUTPUT_STREAMS = 8;

const STREAM_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** The one rule for stream names, in declarations and in artifact suffixes alike (OUT-1). */
export function isStreamName(name: string): boolean {
  return STREAM_NAME.test(name) && name !== '.' && name !== '..';
}

/** What is wrong with a declaration, or undefined (OUT-1). */
export function declarationProblem(declaration: OutputDeclaration): string | undefined {
  if (declaration.kind === 'single') return undefined;
  const { streams } = declaration;
  if (streams.length < 1 || streams.length > MAX_OUTPUT_STREAMS) {
    return `named output takes 1 to ${MAX_OUTPUT_STREAMS} streams, not ${streams.length}`;
  }
  const bad = streams.find((name) => !isStreamName(name));
  if (bad !== undefined) {
    return `stream name ${JSON.stringify(bad)} must be 1 to 64 bytes of A-Z a-z 0-9 _ . - and neither "." nor ".."`;
  }
  const twice = streams.find((name, index) => streams.indexOf(name) !== index);
  return twice === undefined ? undefined : `stream name ${JSON.stringify(twice)} is declared twice`;
}

/** The streams of a declaration, in rendering order. */
export function streamsOf(declaration: OutputDeclaration): readonly StreamName[] {
  return declaration.kind === 'single' ? [null] : declaration.streams;
}

/** Accepted text of one stream. `stream` is absent for single output. */
export interface OutputChunk {
  readonly stream?: string;
  readonly text: string;
}

/** A reference as events store it: `artifact://sha256/<digest>` (ART-3). */
export interface ArtifactReference {
  readonly uri: string;
}

/** One stream of a result as a terminal event records it (ART-17). */
export interface RetainedStream {
  readonly name: string | null;
  readonly reference: ArtifactReference;
  readonly sha256: string;
  readonly byte_length: number;
  readonly line_count: number;
  /** Whether the preview left something out. */
  readonly truncated: boolean;
  /** The zero-based line at which unseen text starts; null when nothing is unseen. */
  readonly next_offset: number | null;
}

/** `retained_output` of a terminal event (ART-17). */
export interface RetainedOutput {
  readonly reference: ArtifactReference;
  readonly incomplete: boolean;
  /** Bytes that were produced and not stored (OUT-21). */
  readonly missing_bytes: number;
  readonly streams: readonly RetainedStream[];
}

/** Limits of `[tool_output]`, positive integers (OUT-15). */
export interface OutputLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
  readonly maxCaptureBytes: number;
}

export const DEFAULT_OUTPUT_LIMITS: OutputLimits = {
  maxLines: 2000,
  maxBytes: 51_200,
  maxCaptureBytes: 4 * 1024 ** 3,
};

/** The bound of any one result and of any one page (OUT-7, OUT-20). */
export const MAX_RESULT_BYTES = 2 * 1024 * 1024;

export interface CaptureRequest {
  /** The engine's id of the call: a UUID. It names the temporary files, so that a crash leaves them attributable. */
  readonly callId: string;
  readonly declaration: OutputDeclaration;
  readonly limits: OutputLimits;
}

/** What a finished capture hands back. */
export interface CaptureResult {
  /** What the model sees: previews, headings and hints (OUT-5, OUT-6). */
  readonly text: string;
  /** Null when nothing could be stored. */
  readonly retained: RetainedOutput | null;
  /** Lets collection go on. Call it once, after the event that refers to the output is flushed (ART-10). Idempotent. */
  readonly release: () => Promise<void>;
}

/** The output of one call on its way into the store. */
export interface OutputCapture {
  /**
   * Takes text. Contract: resolves once the text is accepted, never buffers without bound (OUT-12), keeps the order of
   * one stream; a storage fault stops the storing and is told by `finish`, it never rejects (OUT-13).
   */
  readonly accept: (chunks: readonly OutputChunk[]) => Promise<void>;
  /** Publishes. Contract: never rejects for a storage fault; `incomplete` marks output that was cut short (OUT-16). */
  readonly finish: (options: { readonly incomplete: boolean }) => Promise<CaptureResult>;
  /** Removes what was captured. Idempotent; does nothing after `finish`. */
  readonly discard: () => Promise<void>;
}

/** Keeps what tools produce. The engine calls it, the artifact store implements it. */
export interface OutputStore {
  /** Opens locked capture files, one a stream (OUT-2). Contract: never rejects for a storage fault (OUT-13). */
  readonly capture: (request: CaptureRequest) => Promise<OutputCapture>;
  /**
   * Publishes what a crashed process had captured for a call, marked incomplete (SES-6).
   * Contract: null when there is nothing, or when a living process still holds the files.
   */
  readonly recover: (request: CaptureRequest) => Promise<CaptureResult | null>;
  /** Stores whole files by their content (ART-16). Contract: rejects for a storage fault, and then holds nothing back. */
  readonly keep: (files: readonly Uint8Array[]) => Promise<KeptFiles>;
}
