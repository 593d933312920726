import { z } from 'zod';
import {
  defineTool,
  isAgentdError,
  toolError,
  type AgentdError,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import type { FileToolPorts } from '../ports.ts';
import { shownPath } from '../target/file-failure.ts';
import { sha256Of, type FileContent, type FileState } from '../target/file-state.ts';
import { decodeAs, type TextEncoding } from '../target/text-encoding.ts';
import { turnFilesOf } from '../turn-files.ts';
import { displayDiff, MAX_COMPARED_BYTES } from './display-diff.ts';
import { continuedChain, shiftedPlaces } from './edit-chain.ts';
import {
  checkEditArguments,
  editedBytes,
  linesText,
  planEdit,
  type EditArguments,
  type EditPlan,
} from './edit-plan.ts';
import { editableEncoding, editedContent, EditSource } from './edit-source.ts';
import { kernelMoves } from './kernel-moves.ts';
import {
  boundCall,
  checkPlace,
  checkWellFormed,
  linkNote,
  lookAlikeNote,
  namedTarget,
  SIBLING_RULE,
  type MutationTarget,
  type NamedTarget,
} from './mutation-target.ts';
import { replaceFile } from './publication.ts';
import type { PublicationPorts } from './put-in-place.ts';
import { linesOf } from './text-places.ts';
import { unitsOf, unitsOfText } from './text-units.ts';

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
  const named = await namedTarget(filePath, { home, session, names: 'look-alike' });
  const planned = await planAgainst(named, edit, signal);
  // They load while permission is asked for.
  const moves = kernelMoves();
  const ports: PublicationPorts = { stages, moves, turnFiles: turnFilesOf(turn), atStep: () => {} };
  const source = new EditSource(planned.target, ports.turnFiles);
  const { oldString, newString, replaceAll } = edit;
  return {
    ...boundCall(planned, {
      tool: 'edit',
      old_sha256: sha256Of(Buffer.from(oldString)),
      new_sha256: sha256Of(Buffer.from(newString)),
      replace_all: replaceAll,
    }),
    revalidate: async (signal) => {
      await checkPlace(planned);
      await source.check(signal);
    },
    execute: (_context, signal) => applyEdit(planned, { ...ports, source }, signal),
    dispose: async () => source.drop(),
  };
}

/** An edit whose places are fixed, against the bytes before the turn (FS-15). */
interface PlannedEdit extends NamedTarget {
  readonly target: Extract<MutationTarget, { readonly state: 'existing' }>;
  readonly planned: Planned;
}

/** A failure tells of the content, so it is kept until the call was permitted: nobody probes a file that is denied. */
type Planned =
  | {
      readonly kind: 'plan';
      readonly plan: EditPlan;
      readonly encoding: TextEncoding;
      /** Of the places, one-based. */
      readonly lines: readonly number[];
    }
  | { readonly kind: 'failure'; readonly failure: AgentdError };

async function planAgainst(
  named: NamedTarget,
  edit: EditArguments,
  signal: AbortSignal,
): Promise<PlannedEdit> {
  const { target, label } = named;
  const name = shownPath(label);
  if (target.state === 'absent') throw toolError('not_found', `${name} does not exist; create it with write`);
  const { bytes, release, ...file } = await editedContent(target, name, signal);
  const planned = planIn(bytes, edit, name);
  release();
  return { ...named, target: { ...target, file }, planned };
}

function planIn(bytes: Buffer, edit: EditArguments, name: string): Planned {
  try {
    const encoding = editableEncoding(bytes, name);
    const text = unitsOf(bytes, encoding);
    const oldString = unitsOfText(edit.oldString, encoding);
    const newString = unitsOfText(edit.newString, encoding);
    const plan = planEdit(text, { ...edit, oldString, newString }, name);
    const starts = plan.places.map(({ start }) => start);
    return { kind: 'plan', plan, encoding, lines: linesOf(text, starts) };
  } catch (error) {
    if (isAgentdError(error)) return { kind: 'failure', failure: error };
    throw error;
  }
}

async function applyEdit(
  { target: { path, file }, label, planned, asked, isLookAlike }: PlannedEdit,
  { source, ...ports }: PublicationPorts & { readonly source: EditSource },
  signal: AbortSignal,
): Promise<ToolCompletion> {
  if (planned.kind === 'failure') throw planned.failure;
  const { plan, encoding, lines } = planned;
  const { edits } = ports.turnFiles;
  const chain = edits.get(path);
  const current = await source.take(signal);
  const places = shiftedPlaces(plan.places, chain, file);
  if (places === null) throw overlapping(label);
  const name = shownPath(label);
  const { expected, content, before } = replaced(current, { ...plan, places }, { encoding, name });
  const published = await replaceFile({ path, expected, content }, ports, signal);
  const change = { places: plan.places, length: plan.replacement.length, current: published };
  edits.set(path, continuedChain(chain, file, change));
  const notes = `${lookAlikeNote(isLookAlike)}${linkNote(published.otherNames)}`;
  return {
    output: { kind: 'single', text: `${editedLine(name, lines)}${notes}` },
    metadata: {
      path,
      bytes: content.length,
      change: 'replaced',
      replacements: places.length,
      ...(isLookAlike && { asked_path: asked }),
      ...(await displayDiff(label, before, before === null ? '' : decodeAs(content, encoding))),
    },
  };
}

interface Replaced {
  /** What must still stand in the file's place. */
  readonly expected: FileState;
  readonly content: Buffer;
  /** The text before, for the diff alone; null where it is too large to be shown. */
  readonly before: string | null;
}

/** Makes the new content and gives the memory of the old one back. */
function replaced(
  { bytes, release, ...expected }: FileContent,
  plan: EditPlan,
  { encoding, name }: { readonly encoding: TextEncoding; readonly name: string },
): Replaced {
  try {
    const content = editedBytes(bytes, plan, { encoding, name });
    const isShown = bytes.length + content.length <= MAX_COMPARED_BYTES;
    return { expected, content, before: isShown ? decodeAs(bytes, encoding) : null };
  } finally {
    release();
  }
}

function editedLine(name: string, lines: readonly number[]): string {
  const count = lines.length === 1 ? '' : `${lines.length} places, `;
  return `Edited ${name} (${count}${linesText(lines)}).`;
}

function overlapping(label: string): AgentdError {
  return toolError(
    'stale',
    `an earlier edit of this turn changed the same place of ${shownPath(label)}; nothing was done. Read it again and repeat the call.`,
  );
}
