import { toolError, type JsonObject, type PreparedCall, type PrepareContext } from '@agentd/contract';
import { shownPath } from '../target/file-failure.ts';
import { absolutePath, resourceLabel, workspaceRoot } from '../target/file-argument.ts';
import { identityJson, kindText } from '../target/identity.ts';
import type { FileState } from '../target/file-state.ts';
import { resolveLookAlike, type Found } from '../target/look-alike.ts';
import { staleTarget } from '../target/open-target.ts';
import {
  resolveTarget,
  targetKey,
  type AbsentTarget,
  type ExistingTarget,
  type Target,
} from '../target/resolve-target.ts';
import { checkMayWrite } from './publication.ts';

/** What both descriptions tell a model (ARG-6). */
export const SIBLING_RULE =
  "Calls of one turn do not see each other's effects and must not depend on them: put what builds on this change into a later turn.";

/** Where a `write` or `edit` goes, as it was when the call was prepared. */
export type MutationTarget = AbsentTarget | (ExistingTarget & { readonly file: FileState });

/** What a call names, whatever is in it. */
export interface NamedTarget {
  readonly target: Target;
  /** The path as asked, absolute; links not followed. */
  readonly asked: string;
  readonly label: string;
  /** Whether a name that looks like the one asked for was taken for it (FS-16). */
  readonly isLookAlike: boolean;
  readonly names: NameRule;
}

/** What a call names, with the bytes that it was prepared on. */
export interface PreparedTarget extends NamedTarget {
  readonly target: MutationTarget;
}

/** `exact`: a name that does not exist is made. `look-alike`: it may mean another that does (FS-16). */
type NameRule = 'exact' | 'look-alike';

/** Resolves what a call names, without any effect: identity, kind and whether the user may write there. */
export async function namedTarget(
  filePath: string,
  {
    home,
    session,
    names,
  }: { readonly home: string; readonly session: PrepareContext['session']; readonly names: NameRule },
): Promise<NamedTarget> {
  const asked = absolutePath(filePath, { cwd: session.cwd, home });
  const { target, isLookAlike } = await resolved(asked, names);
  const label = resourceLabel(target.path, await workspaceRoot(session.cwd));
  const named = { target, asked, label, isLookAlike, names };
  if (target.state === 'absent') return named;
  const { kind } = target.identity;
  if (kind !== 'file') {
    throw toolError(
      'not_supported',
      `${shownPath(target.path)} is ${kindText(kind)}; only files can be written`,
    );
  }
  await checkMayWrite(target.path);
  return named;
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
export async function checkPlace({ asked, target, names }: NamedTarget): Promise<void> {
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
