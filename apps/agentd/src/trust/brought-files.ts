import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { codeOf, messageOf } from '@agentd/contract';
import { setUpError } from '../faults.ts';

/** More than this is no configuration; nobody could look at it before trusting it. */
const MAX_FILES = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

/** What a workspace may bring that changes what agentd does (CFG-1, PERM-11). */
const FILES = [join('.agentd', 'config.toml'), '.mcp.json'] as const;
const FOLDERS = [join('.agentd', 'agents'), join('.agentd', 'skills')] as const;

/** What a workspace brings, and the digest that stands for exactly that. */
export interface Brought {
  /** Relative to the workspace, sorted; never empty. */
  readonly files: readonly string[];
  /** The files and folders of ours that there are, absolute. */
  readonly places: readonly string[];
  /** SHA-256 over the names and contents of the files, in hex. */
  readonly digest: string;
}

/** Null where the workspace brings nothing. Contract: throws one line for what cannot be read, or is too large. */
export async function broughtBy(workspace: string): Promise<Brought | null> {
  const inFolders = await Promise.all(FOLDERS.map((folder) => filesBelow(workspace, folder)));
  const single = await Promise.all(
    FILES.map(async (file) => ((await isFile(join(workspace, file))) ? [file] : [])),
  );
  const files = [...single.flat(), ...inFolders.flat()].toSorted();
  if (files.length === 0) return null;
  const places = [...single.flat(), ...FOLDERS.filter((_, index) => (inFolders[index] ?? []).length > 0)].map(
    (place) => join(workspace, place),
  );
  return { files, places, digest: await digestOf(workspace, files) };
}

async function filesBelow(workspace: string, folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(workspace, folder), { recursive: true, withFileTypes: true });
    const found = entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(workspace, join(entry.parentPath, entry.name)));
    if (found.length > MAX_FILES) throw setUpError(`${join(workspace, folder)} has over ${MAX_FILES} files`);
    return found;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => !info.isDirectory(),
    () => false,
  );
}

async function digestOf(workspace: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const file of files) {
    const content = await contentOf(join(workspace, file), MAX_BYTES - bytes);
    bytes += content.length;
    // Lengths go along, so that no two sets of files have one digest.
    hash
      .update(JSON.stringify([file, content.length]))
      .update('\n')
      .update(content);
  }
  return hash.digest('hex');
}

/** Links are followed: what counts is what agentd would read. One that leads nowhere is empty. */
async function contentOf(path: string, left: number): Promise<Buffer> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw setUpError(`${path} is a link to a folder; put the files themselves there`);
    if (!info.isFile()) throw setUpError(`${path} is no file, and cannot be trusted`);
    if (info.size > left) throw setUpError(`${path} is too large to be trusted`);
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    if (codeOf(error) === 'AGENTD_SET_UP') throw error;
    throw setUpError(`${path}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
