import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Where `bash` is, or null when the search path has none. */
export async function findBash(searchPath: string): Promise<string | null> {
  for (const folder of searchPath.split(delimiter).filter((entry) => entry !== '')) {
    const path = join(folder, 'bash');
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return null;
}
