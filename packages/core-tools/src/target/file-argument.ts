import { isAbsolute, relative, resolve, sep } from 'node:path';
import { realpath } from 'node:fs/promises';
import { toolError } from '@agentd/contract';
import { fileFailure } from './file-failure.ts';

/** As many as Linux takes; others take less and say so themselves. */
const MAX_PATH_BYTES = 4095;

/** The absolute path that a `filePath` argument means; links are not followed yet (FS-2, FS-11). */
export function absolutePath(filePath: string, folders: { cwd: string; home: string }): string {
  const path = expandedPath(filePath, folders);
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_PATH_BYTES) return path;
  throw toolError(
    'invalid_arguments',
    `"filePath" has ${bytes} bytes; no path may have over ${MAX_PATH_BYTES}`,
  );
}

function expandedPath(filePath: string, { cwd, home }: { cwd: string; home: string }): string {
  if (filePath === '') throw toolError('invalid_arguments', '"filePath" is empty: name a file');
  if (filePath.includes('\0')) {
    throw toolError('invalid_arguments', '"filePath" holds a NUL character, which no path can');
  }
  if (!filePath.isWellFormed()) {
    throw toolError('invalid_arguments', '"filePath" holds half of a surrogate pair, which no path can');
  }
  if (filePath === '~' || filePath.startsWith('~/')) return resolve(home, `.${filePath.slice(1)}`);
  if (filePath.startsWith('~')) {
    throw toolError(
      'invalid_arguments',
      `"filePath" starts with "~": only "~" and "~/…" are expanded. Give the whole path, or "./${filePath}" for a file of that name.`,
    );
  }
  return resolve(cwd, filePath);
}

/** The workspace is the real path of the working directory: the root itself may be a link (FS-11). */
export async function workspaceRoot(cwd: string): Promise<string> {
  try {
    return await realpath(cwd);
  } catch (error) {
    throw fileFailure('open the working directory', cwd, error);
  }
}

/** The label that rules match: relative inside the workspace (`.` for its root), else absolute (FS-11). */
export function resourceLabel(path: string, root: string): string {
  const inside = relative(root, path);
  if (inside === '') return '.';
  const leaves = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return leaves ? path : inside.replaceAll(sep, '/');
}
