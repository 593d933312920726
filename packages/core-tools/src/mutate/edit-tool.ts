import { z } from 'zod';
import {
  defineTool,
  isAgentdError,
  messageOf,
  toolError,
  type AgentdError,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import type { FileToolPorts } from '../ports.ts';
import { shownPath } from '../target/file-failure.ts';
import { bytesOf, checkState, sha256Of, type FileState } from '../target/file-state.ts';
import { staleTarget } from '../target/open-target.ts';
import { decodeText, encodeText, isNotText, type TextEncoding } from '../target/text-encoding.ts';
import { turnFilesOf } from '../turn-files.ts';
import { displayDiff } from './display-diff.ts';
import { continuedChain, expectedState, shiftedPlaces } from './edit-chain.ts';
import {
  checkEditArguments,
  editedText,
  linesText,
  planEdit,
  type EditArguments,
  type EditPlan,
} from './edit-plan.ts';
import { kernelMoves } from './kernel-moves.ts';
import {
  boundCall,
  checkPlace,
  checkWellFormed,
  linkNote,
  lookAlikeNote,
  prepareTarget,
  SIBLING_RULE,
  type PreparedTarget,
} from './mutation-target.ts';
import { replaceFile } from './publication.ts';
import type { PublicationPorts } from './put-in-place.ts';
import { linesOf } from './text-places.ts';

/** A larger file would be held in memory several times over. */
const MAX_EDITED_BYTES = 32 * 1024 * 1024;

const EDIT_ARGUMENTS = z.strictObject({
  filePath: z.string().min(1).describe('The file, absolute or relative to the working directory.'),
  oldString: z
    .string()
    .describe('The text to replace, exactly as in the file, with enough around it to occur only once.'),
  newString: z.string().describe('What to put there, taken literally.'),
  replaceAll: z.boolean().default(false).describe('Replace every occurrence instead of the only one.'),
});

const DESCRIPTION = `Replaces text in a file. oldString must occur exactly once, unless replaceAll is true; nothing is matched approximately, so copy it from read without the "N: " prefixes.
${SIBLING_RULE} Edits of one file in one turn all land as long as their places do not overlap.`;

/** `edit`: one place, or all places, of a text in a file (FS-7 to FS-11, FS-13, FS-15). */
export function createEditTool(ports: Pick<FileToolPorts, 'home' | 'stages'>): Tool {
  return defineTool({
    name: 'edit',
    description: DESCRIPTION,
    schema: EDIT_ARGUMENTS,
    action: 'write',
    concurrency: 'parallel',
    prepare: (args, context, signal) => prepareEdit(args, { ...ports, ...context }, signal),
  });
}

async function prepareEdit(
  { filePath, ...edit }: EditArguments & { readonly filePath: string },
  { home, stages, session, turn }: Pick<FileToolPorts, 'home' | 'stages'> & PrepareContext,
  signal: AbortSignal,
): Promise<PreparedCall> {
  checkEditArguments(edit);
  checkWellFormed('oldString', edit.oldString);
  checkWellFormed('newString', edit.newString);
  const prepared = await prepareTarget(filePath, { home, session, names: 'look-alike' }, signal);
  const planned = await planAgainst(prepared, edit);
  // They load while permission is asked for.
  const moves = kernelMoves();
  const ports: PublicationPorts = { stages, moves, turnFiles: turnFilesOf(turn), atStep: () => {} };
  const { turnFiles } = ports;
  const { oldString, newString, replaceAll } = edit;
  return {
    ...boundCall(prepared, {
      tool: 'edit',
      old_sha256: sha256Of(Buffer.from(oldString)),
      new_sha256: sha256Of(Buffer.from(newString)),
      replace_all: replaceAll,
    }),
    revalidate: async (signal) => {
      await checkPlace(prepared);
      await checkState(planned.path, expectedState(turnFiles.edits.get(planned.path), planned.file), signal);
    },
    execute: (_context, signal) => applyEdit(planned, ports, signal),
  };
}

/** An edit whose places are fixed, against the bytes before the turn (FS-15). */
interface PlannedEdit extends Pick<PreparedTarget, 'asked' | 'isLookAlike'> {
  readonly path: string;
  readonly label: string;
  readonly file: FileState;
  readonly planned: Planned;
}

/** A failure tells of the content, so it is kept until the call was permitted: nobody probes a file that is denied. */
type Planned =
  | { readonly kind: 'plan'; readonly plan: EditPlan; readonly lines: readonly number[] }
  | { readonly kind: 'failure'; readonly failure: AgentdError };

async function planAgainst(
  { target, label, asked, isLookAlike }: PreparedTarget,
  edit: EditArguments,
): Promise<PlannedEdit> {
  const name = shownPath(label);
  if (target.state === 'absent') throw toolError('not_found', `${name} does not exist; create it with write`);
  const { path, file, bytes } = target;
  if (bytes > MAX_EDITED_BYTES) {
    throw toolError(
      'resource_limit',
      `${name} has ${bytes} bytes, edit takes up to 32 MiB; use bash, e.g. sed -i`,
    );
  }
  return { path, label, file, asked, isLookAlike, planned: await planIn({ path, label, file }, edit) };
}

async function planIn(
  place: Pick<PlannedEdit, 'path' | 'label' | 'file'>,
  edit: EditArguments,
): Promise<Planned> {
  try {
    const { text } = await currentText(place, place.file);
    const plan = planEdit(text, edit, shownPath(place.label));
    const starts = plan.places.map(({ start }) => start);
    return { kind: 'plan', plan, lines: linesOf(text, starts) };
  } catch (error) {
    if (isAgentdError(error)) return { kind: 'failure', failure: error };
    throw error;
  }
}

async function applyEdit(
  { path, label, file, planned, asked, isLookAlike }: PlannedEdit,
  ports: PublicationPorts,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  if (planned.kind === 'failure') throw planned.failure;
  const { plan, lines } = planned;
  const { turnFiles } = ports;
  const chain = turnFiles.edits.get(path);
  const expected = expectedState(chain, file);
  const { text, encoding } = await currentText({ path, label }, expected);
  const places = shiftedPlaces(plan.places, chain, file);
  if (places === null) throw overlapping(label);
  const after = editedText(text, { ...plan, places }, shownPath(label));
  const content = encodeText(after, encoding);
  const published = await replaceFile({ path, expected, content }, ports, signal);
  const edited = { places: plan.places, length: plan.replacement.length, current: published };
  turnFiles.edits.set(path, continuedChain(chain, file, edited));
  return {
    output: {
      kind: 'single',
      text: `${editedLine(label, lines)}${lookAlikeNote(isLookAlike)}${linkNote(published.otherNames)}`,
    },
    metadata: {
      path,
      bytes: content.length,
      change: 'replaced',
      replacements: places.length,
      ...(isLookAlike && { asked_path: asked }),
      ...(await displayDiff(label, text, after)),
    },
  };
}

function editedLine(label: string, lines: readonly number[]): string {
  const count = lines.length === 1 ? '' : `${lines.length} places, `;
  return `Edited ${shownPath(label)} (${count}${linesText(lines)}).`;
}

/** The text of the file if it is still in this state; `stale` otherwise. */
async function currentText(
  { path, label }: Pick<PlannedEdit, 'path' | 'label'>,
  { identity, sha256 }: FileState,
): Promise<{ readonly text: string; readonly encoding: TextEncoding }> {
  const bytes = await bytesOf(path, identity);
  if (sha256Of(bytes) !== sha256) throw staleTarget(path);
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!isNotText(error)) throw error;
    throw toolError(
      'not_supported',
      `${shownPath(label)} cannot be edited as text: ${messageOf(error)}; use bash`,
    );
  }
}

function overlapping(label: string): AgentdError {
  return toolError(
    'stale',
    `an earlier edit of this turn changed the same place of ${shownPath(label)}; nothing was done. Read it again and repeat the call.`,
  );
}
