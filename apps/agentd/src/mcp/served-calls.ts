import { resolve } from 'node:path';
import {
  codeOf,
  messageOf,
  randomIds,
  systemClock,
  type Attachment,
  type BlobReader,
  type CallReport,
} from '@agentd/contract';
import {
  callResult,
  Lanes,
  ProgressFeed,
  type McpTools,
  type Place,
  type ServedFile,
} from '@agentd/core-tools/mcp';
import { modelTextOf, type LiveEvent, type Session } from '@agentd/engine';
import type { SessionPool } from './session-pool.ts';

export interface ServedCallsInit {
  readonly pool: SessionPool;
  readonly agent: string;
  /** Absolute; relative paths start there. */
  readonly workspace: string;
  readonly blobs: BlobReader;
  /** Raw bytes of the files in one result. */
  readonly maxFileBytes: number;
}

/**
 * The handler of `tools/call`: through the engine, as `tools call` does it. What went wrong is a result that a model can
 * read; nothing rejects.
 */
export function servedCalls(init: ServedCallsInit): McpTools['call'] {
  const lanes = new Lanes();
  return async ({ params: { name, arguments: args = {} } }, extra) => {
    const feed = ProgressFeed.of(extra, systemClock);
    const { signal } = extra;
    let place: Place | null = null;
    try {
      // Before anything else: later nobody knows any more which call came first.
      const file = changedFile(name, args, init.workspace);
      place = file === null ? null : await lanes.enter(file, signal);
      return await resultOf(await reportOf({ name, args, feed }, init, signal), init, signal);
    } catch (thrown) {
      const text = `error: ${codeOf(thrown) ?? 'execution_failed'}: ${messageOf(thrown)}`;
      return callResult({ text, failed: true });
    } finally {
      feed?.close();
      place?.leave();
    }
  };
}

function changedFile(name: string, { filePath }: Record<string, unknown>, cwd: string): string | null {
  return (name === 'write' || name === 'edit') && typeof filePath === 'string'
    ? resolve(cwd, filePath)
    : null;
}

interface ServedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly feed: ProgressFeed | null;
}

function reportOf(
  { name, args, feed }: ServedCall,
  { pool, agent }: ServedCallsInit,
  signal: AbortSignal,
): Promise<CallReport> {
  const call = { clientRunId: randomIds.uuid(), tool: name, args: JSON.stringify(args), agent };
  const run = (session: Session): Promise<CallReport> => session.callTool(call, signal);
  return pool.use({ run, live: (event) => tell(feed, event) }, signal);
}

function tell(feed: ProgressFeed | null, event: LiveEvent): void {
  if (event.type === 'tool_output') feed?.output(event.data);
  if (event.type === 'tool_message') feed?.message(event.text);
}

type FileParts = Pick<ServedCallsInit, 'blobs' | 'maxFileBytes'>;

async function resultOf(report: CallReport, { blobs, maxFileBytes }: FileParts, signal: AbortSignal) {
  const files: ServedFile[] = [];
  const lines = [modelTextOf({ result: report, error: report.error })];
  let room = maxFileBytes;
  for (const attachment of report.attachments) {
    if (attachment.byte_length > room) {
      lines.push(leftOutLine(attachment, maxFileBytes));
      continue;
    }
    room -= attachment.byte_length;
    files.push(await servedFile(attachment, blobs, signal));
  }
  return callResult({ text: lines.join('\n'), files, failed: report.outcome !== 'completed' });
}

async function servedFile(
  { sha256, mime_type }: Attachment,
  blobs: BlobReader,
  signal: AbortSignal,
): Promise<ServedFile> {
  return { bytes: await blobs.blob(sha256, signal), mimeType: mime_type, uri: `artifact://${sha256}` };
}

function leftOutLine({ filename, mime_type, byte_length }: Attachment, maxFileBytes: number): string {
  const name = filename === null ? mime_type : `${filename} (${mime_type})`;
  return `[${name} is not in this result: it has ${byte_length} bytes, and one message carries ${maxFileBytes} at most. Make it smaller first.]`;
}
