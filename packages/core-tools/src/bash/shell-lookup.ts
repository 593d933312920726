import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { toolError } from '@agentd/contract';

/** Where systems keep programs when PATH says nothing. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The absolute path of bash; throws `not_supported` where there is none.
 * Relative entries of PATH are skipped: they would let a workspace bring its own bash.
 */
export async function findBash(environment: NodeJS.ProcessEnv): Promise<string> {
  const path = environment['PATH'] ?? DEFAULT_PATH;
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, 'bash');
    if (await isProgram(candidate)) return candidate;
  }
  throw toolError('not_supported', `this machine has no bash on its PATH (${path}), so no command can run`);
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
