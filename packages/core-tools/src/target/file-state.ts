import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { expectedFailure } from './file-failure.ts';
import { isSameFile, type FileIdentity } from './identity.ts';
import { openTarget, staleTarget } from './open-target.ts';

/** A file and its bytes at one moment. Times play no part: they lie (FS-9). */
export interface FileState {
  readonly identity: FileIdentity;
  /** Lowercase hex. */
  readonly sha256: string;
}

export function isSameState(one: FileState, other: FileState): boolean {
  return isSameFile(one.identity, other.identity) && one.sha256 === other.sha256;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** How much is read of a file at a time while the piece before is hashed. */
const PIECE_BYTES = 512 * 1024;

/** A file with the number of its bytes. */
export interface MeasuredState extends FileState {
  readonly size: number;
}

/** A file that stays on the disk, hashed as it is read. Throws `stale` when another file stands there. */
export async function stateOf(
  path: string,
  identity: FileIdentity,
  signal: AbortSignal,
): Promise<MeasuredState> {
  return withOpened(path, identity, async (handle) => {
    const hash = createHash('sha256');
    const { size } = await handle.stat();
    const length = Math.min(PIECE_BYTES, size + 1);
    const rooms = [Buffer.allocUnsafeSlow(length), Buffer.allocUnsafeSlow(length)] as const;
    let next: 0 | 1 = 0;
    const room = (): Buffer => rooms[(next = next === 0 ? 1 : 0)];
    const read = await readPieces(handle, { room, take: (piece) => hash.update(piece) }, signal);
    return { identity, sha256: hash.digest('hex'), size: read };
  });
}

/** A file with its bytes. */
export interface FileContent extends FileState {
  readonly bytes: Buffer;
  /** Gives their memory back at once: the collector, which sees only its heap, takes long to. Nobody may use them then. */
  readonly release: () => void;
}

/**
 * A file of at most `most` bytes, read and hashed in one go; null for a larger one. Throws `stale` when another file
 * stands there.
 */
export async function contentOf(
  { path, identity, most }: { readonly path: string; readonly identity: FileIdentity; readonly most: number },
  signal: AbortSignal,
): Promise<FileContent | null> {
  return withOpened(path, identity, async (handle) => {
    const { size } = await handle.stat();
    if (size > most) return null;
    const hash = createHash('sha256');
    // One byte more than the file has: a read that finds its end there asks for no larger room.
    let bytes: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(size + 1);
    const room = (position: number): Buffer => {
      if (position === bytes.length) bytes = grown(bytes, most + 1);
      return bytes.subarray(position, position + PIECE_BYTES);
    };
    const read = await readPieces(handle, { room, take: (piece) => hash.update(piece) }, signal);
    if (read > most) return null;
    const release = (): void => void bytes.buffer.transfer(0);
    return { identity, sha256: hash.digest('hex'), bytes: bytes.subarray(0, read), release };
  });
}

/** Throws `stale` unless the file is as `expected` to the last byte. */
export async function checkState(path: string, expected: FileState, signal: AbortSignal): Promise<void> {
  const { sha256 } = await stateOf(path, expected.identity, signal);
  if (sha256 !== expected.sha256) throw staleTarget(path);
}

interface PieceReader {
  /** Where the bytes at this position of the file may be put; empty to read no more. */
  readonly room: (position: number) => Buffer;
  readonly take: (piece: Buffer) => void;
}

/** Reads a file to its end, whatever its size says, each piece while the one before is taken. Resolves with the number of bytes. */
async function readPieces(
  handle: FileHandle,
  { room, take }: PieceReader,
  signal: AbortSignal,
): Promise<number> {
  const readAt = async (position: number): Promise<Buffer> => {
    const piece = room(position);
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    return piece.subarray(0, bytesRead);
  };
  let position = 0;
  let piece = await readAt(position);
  while (piece.length > 0) {
    signal.throwIfAborted();
    position += piece.length;
    const following = readAt(position);
    take(piece);
    piece = await following;
  }
  return position;
}

/** Twice the room, but not over `most`, with what was read. */
function grown(bytes: Buffer, most: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.min(most, 2 * bytes.length));
  bytes.copy(larger);
  return larger;
}

async function withOpened<T>(
  path: string,
  identity: FileIdentity,
  use: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await openTarget({ path }, (found) => isSameFile(found, identity));
  try {
    return await use(handle);
  } catch (error) {
    throw expectedFailure('read', path, error);
  } finally {
    await handle.close();
  }
}
