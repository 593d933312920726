import type { FileHandle } from 'node:fs/promises';
import type {
  AdmittedMedia,
  AttachedFile,
  JsonObject,
  MediaBytes,
  MediaGate,
  ModelInfo,
} from '@agentd/contract';

/** A file that is attached instead of shown. */
export interface MediaResult {
  readonly text: string;
  readonly metadata: JsonObject;
  readonly attachments: readonly AttachedFile[];
}

export interface MediaQuestion {
  readonly gate: MediaGate;
  /** The path as errors name it. */
  readonly path: string;
  /** The model that made the call; null for a call by hand (MED-2). */
  readonly model: ModelInfo | null;
}

/** The file as an attachment; null where its content is no media. Throws what the gate says against it (MED-1 to MED-4). */
export async function attachedMedia(
  handle: FileHandle,
  { gate, path, model }: MediaQuestion,
  signal: AbortSignal,
): Promise<MediaResult | null> {
  const { size } = await handle.stat();
  const content: MediaBytes = {
    byteLength: size,
    read: (offset, length) => bytesAt(handle, offset, length),
  };
  const media = await gate.admit({ content, name: path, model }, signal);
  return media === null ? null : resultOf(media);
}

function resultOf({ record, bytes }: AdmittedMedia): MediaResult {
  const { mime_type, byte_length } = record;
  return {
    text: `Attached ${mime_type} (${byte_length.toLocaleString('en-US')} bytes).`,
    metadata: { kind: 'attachment', ...record },
    attachments: [{ record, bytes }],
  };
}

/** As much as there is of the range; one read may give less. */
async function bytesAt(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const { size } = await handle.stat();
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)));
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
