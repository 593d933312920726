import { readdir, type FileHandle } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { codeOf } from '@agentd/contract';
import { framed, pageTooLarge, pastTheEnd, roomFor, type Page, type PageRequest } from './page-frame.ts';

/** One page of an open directory's entries, in the order of their bytes, which is that of code points (FS-3). */
export async function directoryPage(
  { handle, path }: { readonly handle: FileHandle; readonly path: string },
  request: PageRequest,
): Promise<Page> {
  const entries = (await entriesOf(handle, path)).toSorted((a, b) => Buffer.compare(a.name, b.name));
  const { offset, limit } = request;
  if (offset > 0 && offset >= entries.length) {
    throw pastTheEnd(path, offset, { count: entries.length, what: 'entries' });
  }
  const lines = entries.slice(offset, offset + limit).map(entryText);
  const fitting = fittingLines(lines, roomFor('directory', path));
  if (fitting < lines.length) throw pageTooLarge(fitting);
  return {
    text: framed('directory', path, lines),
    metadata: {
      kind: 'directory',
      offset,
      limit,
      total_entries: entries.length,
      ...(offset + limit < entries.length && { next_offset: offset + limit }),
    },
  };
}

/** Through the open handle where the system lets us: the path may lead elsewhere by now (FS-6). */
async function entriesOf(handle: FileHandle, path: string): Promise<readonly Dirent<Buffer>[]> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  try {
    return await readdir(`/proc/self/fd/${handle.fd}`, options);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return readdir(path, options);
  }
}

function entryText(entry: Dirent<Buffer>): string {
  const name = shownName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  return entry.isSymbolicLink() ? `${name}@` : name;
}

/** Control characters and bytes that are no UTF-8 as `\xNN`: an entry is one line, whatever its name holds. */
function shownName(name: Buffer): string {
  if (!isUtf8(name))
    return [...name]
      .map((byte) => (byte < 0x20 || byte > 0x7e ? escaped(byte) : String.fromCharCode(byte)))
      .join('');
  return name
    .toString('utf8')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => [...Buffer.from(character)].map(escaped).join(''));
}

function escaped(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

function fittingLines(lines: readonly string[], room: number): number {
  let bytes = 0;
  const over = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > room);
  return over < 0 ? lines.length : over;
}
