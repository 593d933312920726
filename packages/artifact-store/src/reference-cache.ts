import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@agentd/contract';
import type { LogRecord } from './log-scan.ts';

/**
 * What earlier passes found out, so that a pass costs what changed (ART-14). It can be deleted at any time. A wrong
 * entry could cost an artifact, so the whole file is under a checksum: damage of any kind makes an empty cache.
 */
export interface ReferenceCache {
  readonly logs: Map<string, LogRecord>;
  /** What the content of a blob refers to: content never changes, so neither does this. */
  readonly blobs: Map<string, readonly string[]>;
}

export type LoadedCache = ReferenceCache & { readonly state: 'read' | 'missing' | 'damaged' };

export const CACHE_FILE = '.references.cache';
const WRITTEN_FILE = '.references.cache.tmp';
const TITLE = 'agentd-references-1';
const DIGEST_LENGTH = 64;

/** Digests are joined without anything between them. */
type LogEntry = readonly [
  kind: 'log',
  path: string,
  identity: string,
  size: number,
  mtimeNs: string,
  offset: number,
  fence: string,
  references: string,
];
type BlobEntry = readonly [kind: 'blob', digest: string, references: string];

export async function loadReferenceCache(folder: string): Promise<LoadedCache> {
  const cache: ReferenceCache = { logs: new Map(), blobs: new Map() };
  try {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const text = await readFile(join(folder, CACHE_FILE), { encoding: 'utf8', flag });
    return readInto(cache, text)
      ? { ...cache, state: 'read' }
      : { logs: new Map(), blobs: new Map(), state: 'damaged' };
  } catch (error) {
    return { ...cache, state: codeOf(error) === 'ENOENT' ? 'missing' : 'damaged' };
  }
}

/** False where it cannot be written; the next pass then takes longer. Only whoever holds the guard may call it. */
export async function saveReferenceCache(folder: string, cache: ReferenceCache): Promise<boolean> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    // What a killed janitor left, or anything else: a pipe would be waited for, a second name of a blob written to.
    await rm(join(folder, WRITTEN_FILE), { force: true });
    const file = await open(join(folder, WRITTEN_FILE), flags, 0o600);
    try {
      await file.writeFile(formatCache(cache));
    } finally {
      await file.close();
    }
    await rename(join(folder, WRITTEN_FILE), join(folder, CACHE_FILE));
    return true;
  } catch {
    return false;
  }
}

function formatCache({ logs, blobs }: ReferenceCache): string {
  const lines: string[] = [];
  for (const { path, identity, size, mtimeNs, offset, fence, references } of logs.values()) {
    lines.push(JSON.stringify(['log', path, identity, size, mtimeNs, offset, fence, references.join('')]));
  }
  for (const [digest, references] of blobs) lines.push(JSON.stringify(['blob', digest, references.join('')]));
  const body = lines.join('\n');
  return `${TITLE} ${checksum(body)}\n${body}`;
}

function readInto({ logs, blobs }: ReferenceCache, text: string): boolean {
  const titleEnd = text.indexOf('\n');
  const body = text.slice(titleEnd + 1);
  if (titleEnd === -1 || text.slice(0, titleEnd) !== `${TITLE} ${checksum(body)}`) return false;
  for (const line of body === '' ? [] : body.split('\n')) {
    const entry = JSON.parse(line) as LogEntry | BlobEntry; // Ours, by the checksum.
    if (entry[0] === 'blob') {
      blobs.set(entry[1], splitDigests(entry[2]));
    } else {
      const [, path, identity, size, mtimeNs, offset, fence, references] = entry;
      const record = { path, identity, size, mtimeNs, offset, fence, references: splitDigests(references) };
      logs.set(path, record);
    }
  }
  return true;
}

function splitDigests(joined: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < joined.length; at += DIGEST_LENGTH) found.push(joined.slice(at, at + DIGEST_LENGTH));
  return found;
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
