import {
  codeOf,
  messageOf,
  randomIds,
  systemClock,
  toolError,
  type AttachedFile,
  type Clock,
  type ExecuteContext,
  type JsonValue,
  type PermissionRequest,
  type PreparedCall,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { CallOutput } from '../call-output.ts';
import { assertUsableBy, DEFAULT_STREAM_LENGTH } from '../foreign-loop.ts';
import { inArrivalOrder } from './arrival-order.ts';
import { callResult, type ServedFile } from './call-result.ts';
import type { McpCallRequest, McpCallResult, McpExtra, McpTool } from './mcp-shapes.ts';
import { ProgressFeed } from './progress-feed.ts';
import { toolListing } from './tool-listing.ts';

/** What a call is about to do. */
export interface McpApproval extends PermissionRequest {
  readonly tool: string;
  readonly requestId: string | number;
  /** The normalized arguments and the identity of the target: what an approval binds to. */
  readonly operation: JsonValue;
}

export interface McpToolOptions {
  /** Absolute working directory; relative paths start there. */
  readonly cwd: string;
  /** Asked before every call has an effect, once it is known what it would do. False refuses the call. */
  readonly approve: (approval: McpApproval, signal: AbortSignal) => Promise<boolean>;
  /** What a client is shown of each stream of a command, head and tail, in UTF-16 units; 50,000 by default. */
  readonly maxStreamLength?: number;
  /** Paces the progress notifications; the machine's unless given. */
  readonly clock?: Clock;
}

/** Two request handlers for a server of the MCP SDK. */
export interface McpTools {
  /** For `ListToolsRequestSchema`. */
  readonly list: () => { tools: McpTool[] };
  /** For `CallToolRequestSchema`. Never rejects: what went wrong is a result with `isError`, for a model to read. */
  readonly call: (request: McpCallRequest, extra: McpExtra) => Promise<McpCallResult>;
}

/**
 * The tools for a server of the MCP SDK. Calls overlap, but those on the same file run one after the other, in the order
 * in which they came.
 */
export function mcpTools(tools: readonly Tool[], options: McpToolOptions): McpTools {
  assertUsableBy('MCP client', tools, options.cwd);
  const byName = new Map(inArrivalOrder(tools).map((tool) => [tool.spec.name, tool]));
  const session = { id: randomIds.uuid(), cwd: options.cwd, agent: 'mcp' };
  return {
    list: () => toolListing(tools.map(({ spec }) => spec)),
    call: ({ params: { name, arguments: args = {} } }, extra) =>
      asResult(async () => {
        const tool = byName.get(name) ?? notPublished(name, [...byName.keys()]);
        const context = { callId: randomIds.uuid(), session, turn: {}, model: null };
        const call = await tool.prepare(args, context, extra.signal);
        try {
          return await finished(call, { tool, extra, options });
        } finally {
          await call.dispose?.();
        }
      }),
  };
}

/** An error of the protocol would not reach the model, which alone can repair the call. */
async function asResult(work: () => Promise<McpCallResult>): Promise<McpCallResult> {
  try {
    return await work();
  } catch (thrown) {
    const text = `error: ${codeOf(thrown) ?? 'execution_failed'}: ${messageOf(thrown)}`;
    return callResult({ text, failed: true });
  }
}

function notPublished(name: string, published: readonly string[]): never {
  throw toolError(
    'not_published',
    `there is no tool ${JSON.stringify(name)} here; published are ${published.join(', ')}`,
  );
}

interface CallParts {
  readonly tool: Tool;
  readonly extra: McpExtra;
  readonly options: McpToolOptions;
}

async function finished(call: PreparedCall, { tool, extra, options }: CallParts): Promise<McpCallResult> {
  const { permission, operation } = call;
  const { signal, requestId } = extra;
  if (!(await options.approve({ ...permission, operation, tool: tool.spec.name, requestId }, signal))) {
    throw toolError('permission_denied', `${permission.action} of ${permission.label} was refused`);
  }
  await call.revalidate?.(signal);
  const output = new CallOutput(tool.spec.output, options.maxStreamLength ?? DEFAULT_STREAM_LENGTH);
  const feed = ProgressFeed.of(extra, options.clock ?? systemClock);
  const report: ExecuteContext['report'] = async ({ chunks = [], message }) => {
    output.take(chunks);
    for (const { text } of chunks) feed?.output(text);
    if (message !== undefined) feed?.message(message);
  };
  try {
    return resultOf(await call.execute({ callId: String(requestId), report, stdin: null }, signal), output);
  } finally {
    feed?.close();
  }
}

function resultOf(completion: ToolCompletion, output: CallOutput): McpCallResult {
  const { attachments = [], ...rest } = completion;
  return callResult({
    text: output.textOf(rest),
    files: attachments.map(servedFile),
    failed: completion.error !== undefined,
  });
}

function servedFile({ record: { mime_type, filename }, bytes }: AttachedFile): ServedFile {
  return { bytes, mimeType: mime_type, uri: `attachment:${encodeURIComponent(filename ?? 'file')}` };
}
