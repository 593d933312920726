import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The folders of one workspace in the home. */
export interface Project {
  readonly key: string;
  readonly sessions: string;
  readonly artifacts: string;
  readonly staging: string;
}

/** Enough of the hash that two workspaces of one name never meet. */
const HASH_DIGITS = 12;
const LONGEST_NAME = 40;

/** A readable name and a hash of the workspace's real path. */
export function projectKey(workspace: string): string {
  const name = basename(workspace)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, LONGEST_NAME);
  const hash = createHash('sha256').update(workspace).digest('hex').slice(0, HASH_DIGITS);
  return `${name === '' ? 'workspace' : name}-${hash}`;
}

export function projectOf(home: string, workspace: string): Project {
  return projectNamed(home, projectKey(workspace));
}

/** Every project of a home, by key; none when the home does not exist. */
export async function projectsOf(home: string): Promise<readonly Project[]> {
  const entries = await readdir(join(home, 'projects'), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => projectNamed(home, name))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function projectNamed(home: string, key: string): Project {
  const folder = join(home, 'projects', key);
  return {
    key,
    sessions: join(folder, 'sessions'),
    artifacts: join(folder, 'artifacts'),
    staging: join(folder, 'staging'),
  };
}
