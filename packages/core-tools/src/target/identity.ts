import type { BigIntStats } from 'node:fs';
import type { JsonObject } from '@agentd/contract';

export type FileKind =
  | 'file'
  | 'directory'
  | 'symbolic link'
  | 'FIFO'
  | 'socket'
  | 'character device'
  | 'block device'
  | 'unknown';

/** What makes a target that one and no other: type, device and inode (FS-6). */
export interface FileIdentity {
  readonly kind: FileKind;
  readonly dev: bigint;
  readonly ino: bigint;
}

export function identityOf(stats: BigIntStats): FileIdentity {
  return { kind: kindOf(stats), dev: stats.dev, ino: stats.ino };
}

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.kind === other.kind && one.dev === other.dev && one.ino === other.ino;
}

/** For what an approval binds to; inodes of 64 bits do not fit a JSON number. */
export function identityJson({ kind, dev, ino }: FileIdentity): JsonObject {
  return { kind, dev: String(dev), ino: String(ino) };
}

/** What to call a target of this kind in a message, with its article. */
export function kindText(kind: FileKind): string {
  return kind === 'unknown' ? 'something of an unknown kind' : `a ${kind}`;
}

function kindOf(stats: BigIntStats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symbolic link';
  if (stats.isFIFO()) return 'FIFO';
  if (stats.isSocket()) return 'socket';
  if (stats.isCharacterDevice()) return 'character device';
  return stats.isBlockDevice() ? 'block device' : 'unknown';
}
