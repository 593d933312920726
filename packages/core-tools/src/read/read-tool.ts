import { z } from 'zod';
import {
  ARTIFACT_SCHEME,
  defineTool,
  type AttachedFile,
  toolError,
  type MediaGate,
  type PrepareContext,
  type PreparedCall,
  type Tool,
} from '@agentd/contract';
import type { FileToolPorts } from '../ports.ts';
import { absolutePath, resourceLabel, workspaceRoot } from '../target/file-argument.ts';
import { expectedFailure, shownPath } from '../target/file-failure.ts';
import { identityJson, isSameFile, kindText, type FileIdentity } from '../target/identity.ts';
import { resolveLookAlike, type Found } from '../target/look-alike.ts';
import { openTarget, staleTarget } from '../target/open-target.ts';
import type { ExistingTarget } from '../target/resolve-target.ts';
import { turnFilesOf } from '../turn-files.ts';
import { prepareArtifactRead } from './artifact-read.ts';
import { directoryPage } from './directory-page.ts';
import { attachedMedia } from './media-read.ts';
import { TextReader } from './text-reader.ts';
import type { Page, PageRequest } from './page-frame.ts';

const READ_ARGUMENTS = z.strictObject({
  filePath: z
    .string()
    .min(1)
    .describe('A file or directory, absolute or relative to the working directory, or an artifact:// URI.'),
  offset: z
    .int()
    .min(0)
    .default(0)
    .describe('Zero-based line or entry to start at; continue with next_offset.'),
  limit: z.int().min(1).default(2000).describe('How many lines or entries; artifacts give at most 2000.'),
});

const DESCRIPTION = `Reads a text file, a directory or retained output (artifact://…), one page at a time.
- Each line of a file is shown as "N: text", N counted from 1; the prefix is not part of the file.
- A directory lists its entries: "name/" is a directory, "name@" a symbolic link.
- When more remains, the result ends with next_offset: pass it as offset to go on.
- A page over 2 MiB fails and asks for a smaller limit; nothing is ever cut silently.`;

const MEDIA_DESCRIPTION = `
- An image, a PDF, a sound or a film is attached whole, so that you can see or hear it; offset and limit do not count.`;

/** `read`: pages of text files, directories and artifacts; media as attachments (FS-1 to FS-6, FS-12, FS-14, ART-4, OUT-17). */
export function createReadTool(ports: Pick<FileToolPorts, 'artifacts' | 'home' | 'media'>): Tool {
  const { media = null } = ports;
  const texts = new TextReader();
  return defineTool({
    name: 'read',
    description: media === null ? DESCRIPTION : DESCRIPTION + MEDIA_DESCRIPTION,
    schema: READ_ARGUMENTS,
    action: 'read',
    concurrency: 'parallel',
    truncation: 'opt_out',
    prepare: async ({ filePath, ...request }, context) =>
      // Before any thought of paths: a malformed URI must not become a file name (ART-5).
      filePath.toLowerCase().startsWith(ARTIFACT_SCHEME)
        ? prepareArtifactRead(ports.artifacts, filePath, request)
        : prepareFileRead(
            absolutePath(filePath, { ...ports, cwd: context.session.cwd }),
            { request, texts, gate: media },
            context,
          ),
  });
}

interface FileRead {
  readonly request: PageRequest;
  readonly texts: TextReader;
  readonly gate: MediaGate | null;
}

async function prepareFileRead(
  path: string,
  reading: FileRead,
  { session, turn, model }: PrepareContext,
): Promise<PreparedCall> {
  const { target, isLookAlike } = await readableTarget(path);
  const isExpected = (found: FileIdentity): boolean =>
    isSameFile(found, target.identity) || turnFilesOf(turn).hasPublished(target.path, found);
  return {
    permission: { action: 'read', label: resourceLabel(target.path, await workspaceRoot(session.cwd)) },
    operation: { tool: 'read', path: target.path, ...reading.request, target: identityJson(target.identity) },
    revalidate: async () => {
      const { target: now } = await resolveLookAlike(path);
      if (now.state === 'absent' || now.path !== target.path || !isExpected(now.identity)) {
        throw staleTarget(target.path);
      }
    },
    execute: async (_context, signal) => {
      const found = await contentOf(target, { ...reading, isExpected, model }, signal);
      return {
        output: { kind: 'single', text: found.text },
        metadata: { ...found.metadata, ...(isLookAlike && { asked_path: path }) },
        ...(found.attachments !== undefined && { attachments: found.attachments }),
      };
    },
  };
}

async function readableTarget(path: string): Promise<Found & { readonly target: ExistingTarget }> {
  const { target, isLookAlike } = await resolveLookAlike(path);
  if (target.state === 'absent') {
    throw toolError(
      'not_found',
      `${shownPath(path)} does not exist; the nearest folder that does is ${shownPath(target.ancestor.path)}`,
    );
  }
  const { kind } = target.identity;
  if (kind !== 'file' && kind !== 'directory') {
    throw toolError(
      'not_supported',
      `${shownPath(target.path)} is ${kindText(kind)}; read takes files, directories and artifact:// URIs`,
    );
  }
  return { target, isLookAlike };
}

interface ExpectedRead extends FileRead, Pick<PrepareContext, 'model'> {
  readonly isExpected: (found: FileIdentity) => boolean;
}

async function contentOf(
  target: ExistingTarget,
  { request, texts, gate, model, isExpected }: ExpectedRead,
  signal: AbortSignal,
): Promise<Page & { readonly attachments?: readonly AttachedFile[] }> {
  const handle = await openTarget(target, isExpected);
  try {
    const opened = { handle, path: target.path };
    if (target.identity.kind === 'directory') return await directoryPage(opened, request);
    const question = gate === null ? null : { gate, path: target.path, model };
    const media = question === null ? null : await attachedMedia(handle, question, signal);
    return media ?? (await texts.page(opened, request, signal));
  } catch (error) {
    throw expectedFailure('read', target.path, error);
  } finally {
    await handle.close();
  }
}
