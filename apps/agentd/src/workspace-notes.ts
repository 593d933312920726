import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@agentd/contract';

/** Notes are part of every request; more than this would crowd the work out. */
const MAX_NOTE_BYTES = 32 * 1024;

/** The first one that exists is read (CFG-1). */
const NOTE_FILES = ['AGENTS.md', 'CLAUDE.md'] as const;

/** What the workspace tells its agents, cut at 32 KiB with a mark; null when it says nothing. */
export async function loadWorkspaceNotes(
  workspace: string,
): Promise<{ readonly path: string; readonly text: string } | null> {
  for (const name of NOTE_FILES) {
    const path = join(workspace, name);
    const text = await readBounded(path);
    if (text !== null) return text.trim() === '' ? null : { path, text };
  }
  return null;
}

async function readBounded(path: string): Promise<string | null> {
  const bytes = await firstBytes(path);
  if (bytes === null) return null;
  if (bytes.length <= MAX_NOTE_BYTES) return bytes.toString('utf8');
  return `${wholeText(bytes.subarray(0, MAX_NOTE_BYTES))}\n[… cut at ${MAX_NOTE_BYTES} bytes; read the file for the rest]\n`;
}

/** One byte more than is shown, so that a cut is known. Null for what is no file, or cannot be read. */
async function firstBytes(path: string): Promise<Buffer | null> {
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) return null;
    const buffer = Buffer.alloc(MAX_NOTE_BYTES + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return null;
  }
}

/** The text up to the last whole character. */
function wholeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes, { stream: true });
}
