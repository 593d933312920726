import type { Modality, ModelInfo, ModelMessage, ToolResultPart } from './model.ts';
import type { ArtifactReference } from './output.ts';

/** What media can be to a model (MED-1). */
export type MediaKind = Exclude<Modality, 'text'>;

/** What a model says of one kind; what it does not say is its family's (MED-4, MED-6, MED-11). */
export interface MediaLimits {
  /** Raw bytes of one file. */
  readonly maxBytes?: number;
  /** The same as a count of base64 characters, where the provider says it so; the smaller of both holds. */
  readonly maxBase64Bytes?: number;
  /** Files of this kind in one request. */
  readonly maxCount?: number;
  /** PDFs: pages of one file (MED-11). */
  readonly maxPages?: number;
}

export type ModelMediaLimits = Readonly<Partial<Record<MediaKind, MediaLimits>>>;

/** A file that a tool returned, as events store it and `tools call --json` prints it (FS-12, CLI-6, ART-16). */
export type Attachment = {
  /** Of the content, never of the name. */
  readonly mime_type: string;
  readonly byte_length: number;
  /** 64 lowercase hexadecimal digits. */
  readonly sha256: string;
  readonly filename: string | null;
  /** The blob, in the form that events store: `artifact://sha256/<digest>` (ART-3, ART-16). */
  readonly reference: { readonly uri: string };
};

/** A file as a tool hands it over. Digest and length are the engine's to tell, from the bytes. */
export interface AttachedFile {
  readonly record: Pick<Attachment, 'mime_type' | 'filename'>;
  /** They must not change any more. */
  readonly bytes: Uint8Array;
}

/** A whole file in the store. */
export interface KeptFile {
  /** 64 lowercase hexadecimal digits. */
  readonly sha256: string;
  readonly reference: ArtifactReference;
}

/** What a finished keeping hands back. */
export interface KeptFiles {
  /** One for each file, in order. */
  readonly files: readonly KeptFile[];
  /** Lets collection go on. Call it once, after the event that refers to the files is flushed (ART-10). Idempotent. */
  readonly release: () => Promise<void>;
}

/** Reads whole blobs. The gateway calls it, the artifact store implements it. */
export interface BlobReader {
  /** Contract: resolves with verified bytes; throws tool errors `artifact_missing`, `artifact_corrupt`, `resource_limit`. */
  readonly blob: (sha256: string, signal: AbortSignal) => Promise<Uint8Array>;
}

/** What fits into one tool result. The engine calls it, media-delivery implements it. */
export interface AttachmentBudget {
  /** Contract: pure; keeps, in order, each file that still fits (MED-8, MED-10). */
  readonly fit: <File extends Pick<Attachment, 'byte_length'>>(
    files: readonly File[],
  ) => { readonly kept: readonly File[]; readonly left: readonly File[] };
  /** What a result says of a file that was left out, in one line. */
  readonly note: (file: Pick<Attachment, 'filename' | 'mime_type' | 'byte_length'>) => string;
}

/** Bytes of a known length that can be read at any place. */
export interface MediaBytes {
  readonly byteLength: number;
  /** Contract: resolves with `length` bytes from `offset`, with fewer only at the end; what it gave stays unchanged. */
  readonly read: (offset: number, length: number, signal: AbortSignal) => Promise<Uint8Array>;
}

/** Bytes that a call wants to hand to a model. */
export interface MediaCandidate {
  readonly content: MediaBytes | Uint8Array;
  /** What errors call it, e.g. a path as the model wrote it; its last component becomes the attachment's filename. */
  readonly name: string | null;
  /** The model that made the call; null for a call by hand (MED-2). */
  readonly model: ModelInfo | null;
}

/** A whole, valid file that the model takes and its family can carry. Whoever stores the bytes adds the reference. */
export interface AdmittedMedia {
  readonly kind: MediaKind;
  readonly record: Omit<Attachment, 'reference'>;
  /** The very bytes that were validated. */
  readonly bytes: Uint8Array;
  /** Where the model that made the call will find it; null when no model made it (MED-5). */
  readonly place: MediaPlace | null;
}

/** Decides whether bytes may become an attachment. `read` and the MCP bridge call it, media-delivery implements it. */
export interface MediaGate {
  /**
   * Contract: judges by content alone. Resolves with null for what is no media at all (text, unknown bytes): the caller
   * goes on as if nobody had asked. Throws a tool error for media that cannot be delivered, in this order:
   * `media_unsupported` (model), `media_undeliverable` (family), `media_too_large` (size), `media_invalid` (the rest).
   * Has no effect, reads no more than the model's limit, and takes time and memory in proportion to that.
   */
  readonly admit: (candidate: MediaCandidate, signal: AbortSignal) => Promise<AdmittedMedia | null>;
}

/** `tool_result`: inside the result of its call; `user_turn`: in the one user turn after the step's results (MED-5). */
export type MediaPlace = 'tool_result' | 'user_turn';

/** A piece of a request: text, or a file whose bytes the gateway fetches by its attachment. */
export type PlacedPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file';
      readonly attachment: Attachment;
      /** Unique in the request and the same in every later one; letters, digits, hyphens and one dot. */
      readonly filename: string;
    };

export interface PlacedToolResult extends Omit<ToolResultPart, 'attachments'> {
  /** What follows `text` in this result: files, or notes in their place. */
  readonly media: readonly PlacedPart[];
}

/** A message of a request with its media in place. A user message may come from us: it carries a step's files (MED-5). */
export type PlacedMessage =
  | { readonly role: 'user'; readonly content: readonly PlacedPart[] }
  | Extract<ModelMessage, { readonly role: 'assistant' }>
  | { readonly role: 'tool'; readonly content: readonly PlacedToolResult[] };

export interface PlacementOptions {
  /** Files that must not go out again, by SHA-256, with the reason in a few words ("the provider refused it"). */
  readonly withheld?: ReadonlyMap<string, string>;
  /** Bytes of the request beside the messages (system prompt, tools), for families with a limit on all of it. */
  readonly reservedBytes?: number;
}

/** Puts the media of a history where one model's family takes it. The gateway calls it, media-delivery implements it. */
export interface MediaPlacer {
  /**
   * Contract: pure, and never fails. Every attachment of `messages` comes out exactly once: as a file where the model
   * and its family take it, otherwise as a note that names it (MED-2, MED-5, MED-6, MED-11). Text is never touched.
   */
  readonly place: (
    messages: readonly ModelMessage[],
    model: ModelInfo,
    options?: PlacementOptions,
  ) => readonly PlacedMessage[];
}
