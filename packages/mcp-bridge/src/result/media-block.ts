import {
  isAgentdError,
  messageOf,
  type AttachedFile,
  type MediaGate,
  type ModelInfo,
  type ToolError,
  type ToolErrorCode,
} from '@agentd/contract';
import { decodedBase64 } from './base64.ts';

/** Bytes in a result: an image or audio block, or an embedded blob. */
export interface MediaBlock {
  readonly base64: string;
  /** What errors and notes call it: `image 2 of the result`, or a URI. */
  readonly label: string;
  /** Becomes the attachment's file name; null for none. */
  readonly name: string | null;
  /** As declared; a claim and no more. */
  readonly mimeType: string | null;
  /** The block says of itself that it is media: then anything else is an error. */
  readonly mustBeMedia: boolean;
}

/** What becomes of a block: a line of text, perhaps a file, perhaps the error that the call ends with (MED-8). */
export interface MappedBlock {
  readonly text: string;
  readonly file?: AttachedFile;
  readonly error?: ToolError;
}

export interface MediaTerms {
  readonly gate: MediaGate | null;
  /** The model that made the call; null for a call by hand (MED-2). */
  readonly model: ModelInfo | null;
}

/** Puts a block through the gate (MED-8). Rejects only when the signal aborts. */
export async function mappedMedia(
  block: MediaBlock,
  { gate, model }: MediaTerms,
  signal: AbortSignal,
): Promise<MappedBlock> {
  const bytes = decodedBase64(block.base64);
  if (bytes === null) return refused(block, 'media_invalid', `${block.label} holds no valid base64`);
  if (gate === null) return { text: `[${shortly(block, bytes)}: files are not delivered here]` };
  try {
    const media = await gate.admit({ content: bytes, name: block.name, model }, signal);
    if (media === null) return noMedia(block, bytes);
    const { record } = media;
    const size = record.byte_length.toLocaleString('en-US');
    return {
      text: `[${block.label}: attached ${record.mime_type} (${size} bytes)]`,
      file: { record, bytes: media.bytes },
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!isAgentdError(error)) throw error;
    return refused(block, error.code as ToolErrorCode, `${block.label}: ${messageOf(error)}`);
  }
}

function refused({ label }: MediaBlock, code: ToolErrorCode, message: string): MappedBlock {
  return { text: `[${label}: not attached]`, error: { code, message } };
}

/** Bytes that are neither image nor sound nor film nor PDF: text is shown, the rest is named. */
function noMedia(block: MediaBlock, bytes: Buffer): MappedBlock {
  if (block.mustBeMedia) {
    return refused(
      block,
      'media_invalid',
      `${block.label} declares ${block.mimeType ?? 'media'}, but its bytes are no media`,
    );
  }
  const text = asText(bytes);
  return {
    text:
      text === null
        ? `[${shortly(block, bytes)}: no kind of file that can be attached]`
        : `[${block.label}]\n${text}`,
  };
}

function asText(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

function shortly({ label, mimeType }: MediaBlock, bytes: Buffer): string {
  return `${label}, ${mimeType ?? 'no type'}, ${bytes.length.toLocaleString('en-US')} bytes`;
}
