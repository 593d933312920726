import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, toolError } from '@agentd/contract';
import { fileFailure, shownPath } from './file-failure.ts';
import { identityOf, type FileIdentity } from './identity.ts';

export interface ExistingTarget {
  readonly state: 'existing';
  /** Absolute, without links. */
  readonly path: string;
  readonly identity: FileIdentity;
}

export interface AbsentTarget {
  readonly state: 'absent';
  /** Absolute; without links as far as it exists. */
  readonly path: string;
  /** The nearest folder that exists. */
  readonly ancestor: ExistingTarget;
  /** The names below the ancestor, the file's own last; never empty. */
  readonly missing: readonly string[];
}

/** What a path leads to, once every link is followed. */
export type Target = ExistingTarget | AbsentTarget;

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** Follows `path` without any effect; a link that leads nowhere yet names the file that it would be (FS-8). */
export async function resolveTarget(path: string): Promise<Target> {
  let wanted = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const found = (await existingTarget(wanted)) ?? (await absentTarget(wanted));
    if (typeof found !== 'string') return found;
    wanted = found;
  }
  throw toolError('invalid_arguments', `${shownPath(path)} leads through more than ${MAX_LINKS} links`);
}

/** The same existing file, or the same absent path, has the same key, whatever it is called (FS-10). */
export function targetKey(target: Target): string {
  if (target.state === 'existing') return `file:${target.identity.dev}:${target.identity.ino}`;
  const { dev, ino } = target.ancestor.identity;
  // Some folders ignore case or the form of accents. Where they do not, two such names merely wait for each other.
  return `absent:${dev}:${ino}:${target.missing.join('/').normalize('NFC').toLowerCase()}`;
}

async function existingTarget(path: string): Promise<ExistingTarget | undefined> {
  try {
    const real = await realpath(path);
    return { state: 'existing', path: real, identity: identityOf(await lstat(real, { bigint: true })) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileFailure('open', path, error);
  }
}

/** A string is the path that a dangling link leads to: look there instead. */
async function absentTarget(path: string): Promise<AbsentTarget | string> {
  const missing: string[] = [];
  for (let candidate = path; ; candidate = dirname(candidate)) {
    const ancestor = await existingTarget(candidate);
    if (ancestor !== undefined) return below(ancestor, missing);
    const link = await linkTarget(candidate);
    if (link !== undefined) return join(link, ...missing);
    missing.unshift(basename(candidate));
  }
}

function below(ancestor: ExistingTarget, missing: readonly string[]): AbsentTarget | string {
  // The file appeared between the two looks: look again.
  if (missing.length === 0) return ancestor.path;
  if (ancestor.identity.kind !== 'directory') {
    throw toolError(
      'execution_failed',
      `ENOTDIR: ${shownPath(ancestor.path)} is a ${ancestor.identity.kind}, so nothing can be below it`,
    );
  }
  return { state: 'absent', path: join(ancestor.path, ...missing), ancestor, missing };
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return resolve(await realpath(dirname(path)), await readlink(path));
  } catch (error) {
    // EINVAL: no link but a thing that appeared just now, which the next look finds.
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'EINVAL') return path;
    throw fileFailure('follow', path, error);
  }
}
