import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import {
  defineTool,
  toolError,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import type { FileToolPorts } from '../ports.ts';
import { expectedFailure, shownPath } from '../target/file-failure.ts';
import { checkState, contentOf, sha256Of, stateOf } from '../target/file-state.ts';
import { checkedEncoding, decodeAs, isNotText } from '../target/text-encoding.ts';
import type { Target } from '../target/resolve-target.ts';
import { turnFilesOf } from '../turn-files.ts';
import { displayDiff, MAX_COMPARED_BYTES, type DisplayDiff } from './display-diff.ts';
import { kernelMoves } from './kernel-moves.ts';
import {
  boundCall,
  checkPlace,
  checkWellFormed,
  linkNote,
  namedTarget,
  SIBLING_RULE,
  type MutationTarget,
  type PreparedTarget,
} from './mutation-target.ts';
import { createFile, replaceFile } from './publication.ts';
import type { PublicationPorts } from './put-in-place.ts';

const WRITE_ARGUMENTS = z.strictObject({
  filePath: z.string().min(1).describe('The file, absolute or relative to the working directory.'),
  content: z.string().describe('The complete new content, written exactly as given.'),
});

const DESCRIPTION = `Creates a file or replaces all of its content; missing folders are made. To change a part of a file, use edit.
${SIBLING_RULE}`;

interface WriteArguments {
  readonly filePath: string;
  readonly content: string;
}

/** `write`: the whole content of a file, published at once (FS-7 to FS-11, FS-13). */
export function createWriteTool(ports: Pick<FileToolPorts, 'home' | 'stages'>): Tool {
  return defineTool({
    name: 'write',
    description: DESCRIPTION,
    schema: WRITE_ARGUMENTS,
    action: 'write',
    concurrency: 'parallel',
    prepare: (args, context, signal) => prepareWrite(args, { ...ports, ...context }, signal),
  });
}

async function prepareWrite(
  { filePath, content }: WriteArguments,
  { home, stages, session, turn }: Pick<FileToolPorts, 'home' | 'stages'> & PrepareContext,
  signal: AbortSignal,
): Promise<PreparedCall> {
  checkWellFormed('content', content);
  if (filePath.endsWith('/')) {
    throw toolError(
      'invalid_arguments',
      '"filePath" ends with "/": name the file; its folders are made with it',
    );
  }
  const named = await namedTarget(filePath, { home, session, names: 'exact' });
  const target = await withState(named.target, signal);
  const prepared = { ...named, target };
  const bytes = Buffer.from(content);
  // They load while permission is asked for.
  const moves = kernelMoves();
  const ports: PublicationPorts = { stages, moves, turnFiles: turnFilesOf(turn), atStep: () => {} };
  return {
    ...boundCall(prepared, { tool: 'write', bytes: bytes.length, sha256: sha256Of(bytes) }),
    revalidate: async (signal) => {
      await checkPlace(prepared);
      if (target.state === 'existing') await checkState(target.path, target.file, signal);
    },
    execute: async (_context, signal) => {
      const before = await textBefore(target, signal);
      const { otherNames } =
        target.state === 'absent'
          ? await createFile({ target, content: bytes }, ports, signal)
          : await replaceFile({ path: target.path, expected: target.file, content: bytes }, ports, signal);
      return completion(
        prepared,
        { otherNames, bytes: bytes.length },
        await displayDiff(prepared.label, before, content),
      );
    },
  };
}

function completion(
  { target, label }: PreparedTarget,
  { otherNames, bytes }: { readonly otherNames: number; readonly bytes: number },
  diff: DisplayDiff,
): ToolCompletion {
  const change = target.state === 'absent' ? 'created' : 'replaced';
  const done = change === 'created' ? 'Created' : 'Replaced';
  return {
    output: { kind: 'single', text: `${done} ${shownPath(label)} (${bytes} bytes).${linkNote(otherNames)}` },
    metadata: { path: target.path, bytes, change, ...diff },
  };
}

/** What is to be replaced is read several times, to be sure that it is still that. */
const MAX_REPLACED_BYTES = 4 * 1024 ** 3;

async function withState(target: Target, signal: AbortSignal): Promise<MutationTarget> {
  if (target.state === 'absent') return target;
  const size = await sizeOf(target.path);
  if (size > MAX_REPLACED_BYTES) {
    throw toolError(
      'resource_limit',
      `${shownPath(target.path)} has ${size} bytes, write replaces up to 4 GiB; remove it first, with bash`,
    );
  }
  return { ...target, file: await stateOf(target.path, target.identity, signal) };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    throw expectedFailure('read', path, error);
  }
}

/** For the diff alone: null where what stood there is no text or too much of it. */
async function textBefore(target: MutationTarget, signal: AbortSignal): Promise<string | null> {
  if (target.state === 'absent') return '';
  const { path, identity } = target;
  const content = await contentOf({ path, identity, most: MAX_COMPARED_BYTES }, signal);
  if (content === null) return null;
  try {
    return decodeAs(content.bytes, checkedEncoding(content.bytes));
  } catch (error) {
    if (isNotText(error)) return null;
    throw error;
  }
}
