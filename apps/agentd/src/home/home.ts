import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { codeOf, messageOf } from '@agentd/contract';
import { setUpError } from '../faults.ts';

/** Where agentd keeps what is its own: `AGENTD_HOME`, else `--home`, else `~/.agentd`. Absolute. */
export function homeFolder(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const chosen = environment['AGENTD_HOME'] || flag;
  return chosen === undefined ? join(homedir(), '.agentd') : resolve(chosen);
}

/** Makes the folder (0700) where it is missing. Contract: throws one clear line when it cannot be written. */
export async function prepareHome(home: string): Promise<void> {
  try {
    await makeFolder(home);
    if (!(await stat(home)).isDirectory()) throw setUpError('it is not a folder');
    await access(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw setUpError(
      `the home ${home} cannot be written: ${reasonOf(error)}; set AGENTD_HOME or --home to a folder that can`,
      { cause: error },
    );
  }
}

/** Unlike the recursive mkdir of Node it ends where a file system refuses new folders as not found (/proc). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EROFS':
      return 'read-only file system';
    case 'ENOENT':
      return 'there is no such place';
    case 'EEXIST':
    case 'ENOTDIR':
      return 'it, or a parent, is not a folder';
    default:
      return messageOf(error);
  }
}

/** The real path of a working directory. Contract: throws one clear line when there is none. */
export async function realWorkspace(cwd: string): Promise<string> {
  const path = resolve(cwd);
  try {
    const real = await realpath(path);
    if (!(await stat(real)).isDirectory()) throw setUpError('it is not a folder');
    await access(real, constants.X_OK);
    return real;
  } catch (error) {
    throw setUpError(`the working directory ${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}
