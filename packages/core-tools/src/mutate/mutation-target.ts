import { lstat } from 'node:fs/promises';
import { toolError, type JsonObject, type PreparedCall, type PrepareContext } from '@agentd/contract';
import { expectedFailure, shownPath } from '../target/file-failure.ts';
import { absolutePath, resourceLabel, workspaceRoot } from '../target/file-argument.ts';
import { identityJson, kindText } from '../target/identity.ts';
import { digestOf, type FileState } from '../target/file-state.ts';
import { resolveLookAlike, type Found } from '../target/look-alike.ts';
import { staleTarget } from '../target/open-target.ts';
import {
  resolveTarget,
  targetKey,
  type AbsentTarget,
  type ExistingTarget,
} from '../target/resolve-target.ts';
import { checkMayWrite } from './publication.ts';

/** What both descriptions tell a model (ARG-6). */
export const SIBLING_RULE =
  "Calls of one turn do not see each other's effects and must not depend on them: put what builds on this change into a later turn.";

/** Where a `write` or `edit` goes, as it was when the call was prepared. */
export type MutationTarget =
  | AbsentTarget
  | (ExistingTarget & { readonly file: FileState; readonly bytes: number });

export interface PreparedTarget {
  readonly target: MutationTarget;
  /** The path as asked, absolute; links not followed. */
  readonly asked: string;
  readonly label: string;
  /** Whether a name that looks like the one asked for was taken for it (FS-16). */
  readonly isLookAlike: boolean;
  readonly names: NameRule;
}

/** `exact`: a name that does not exist is made. `look-alike`: it may mean another that does (FS-16). */
type NameRule = 'exact' | 'look-alike';

/** Resolves what a call names, without any effect: identity, bytes and whether the user may write there. */
export async function prepareTarget(
  filePath: string,
  {
    home,
    session,
    names,
  }: { readonly home: string; readonly session: PrepareContext['session']; readonly names: NameRule },
  signal: AbortSignal,
): Promise<PreparedTarget> {
  const asked = absolutePath(filePath, { cwd: session.cwd, home });
  const { target, isLookAlike } = await resolved(asked, names);
  const label = resourceLabel(target.path, await workspaceRoot(session.cwd));
  const place = { asked, label, isLookAlike, names };
  if (target.state === 'absent') return { ...place, target };
  const { kind } = target.identity;
  if (kind !== 'file') {
    throw toolError(
      'not_supported',
      `${shownPath(target.path)} is ${kindText(kind)}; only files can be written`,
    );
  }
  await checkMayWrite(target.path);
  const sha256 = await digestOf(target.path, target.identity, signal);
  const file = { identity: target.identity, sha256 };
  return { ...place, target: { ...target, file, bytes: await sizeOf(target.path) } };
}

async function resolved(path: string, names: NameRule): Promise<Found> {
  if (names === 'look-alike') return resolveLookAlike(path);
  return { target: await resolveTarget(path), isLookAlike: false };
}

/** Permission, key and what an approval binds to: the same for `write` and `edit`. */
export function boundCall(
  { target, label }: PreparedTarget,
  operation: JsonObject,
): Pick<PreparedCall, 'permission' | 'operation' | 'serializationKey'> {
  return {
    permission: { action: 'write', label },
    operation: { ...operation, path: target.path, target: targetJson(target) },
    serializationKey: targetKey(target),
  };
}

/** Throws `stale` unless the path still leads to the same place. */
export async function checkPlace({ asked, target, names }: PreparedTarget): Promise<void> {
  const { target: now } = await resolved(asked, names);
  if (now.state !== target.state || now.path !== target.path) throw staleTarget(target.path);
}

/** Text that half a surrogate pair has got into cannot be stored as it is. */
export function checkWellFormed(name: string, text: string): void {
  if (text.isWellFormed()) return;
  throw toolError('invalid_arguments', `"${name}" holds half of a surrogate pair, which no file can store`);
}

/** What the text says when another name was taken for the one asked for (FS-16). */
export function lookAlikeNote(isLookAlike: boolean): string {
  return isLookAlike ? ' Its name differs from the one asked for in characters that look alike.' : '';
}

/** What the text says when other names of the file keep the old content (FS-8). */
export function linkNote(otherNames: number): string {
  if (otherNames === 0) return '';
  return ` Its hard link was broken: ${otherNames} other ${otherNames === 1 ? 'name keeps' : 'names keep'} the old content.`;
}

function targetJson(target: MutationTarget): JsonObject {
  if (target.state === 'existing') return { ...identityJson(target.identity), sha256: target.file.sha256 };
  return { kind: 'absent', folder: identityJson(target.ancestor.identity), missing: target.missing };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    throw expectedFailure('read', path, error);
  }
}
