import {
  randomIds,
  toolError,
  type JsonValue,
  type PermissionRequest,
  type PreparedCall,
  type PrepareContext,
  type Tool,
} from '@agentd/contract';
import { assertUsableBy, DEFAULT_STREAM_LENGTH } from '../foreign-loop.ts';
import { aiSdkSchema, type AiSdkSchema } from './ai-sdk-schema.ts';
import { CallOrder } from './call-order.ts';
import { CallOutput } from '../call-output.ts';

/** What a call is about to do. */
export interface AiSdkApproval extends PermissionRequest {
  readonly tool: string;
  readonly toolCallId: string;
  /** The normalized arguments and the identity of the target: what an approval binds to. */
  readonly operation: JsonValue;
}

export interface AiSdkOptions {
  /** Absolute working directory; relative paths start there. */
  readonly cwd: string;
  /** Asked before every call has an effect, once it is known what it would do. False refuses the call. */
  readonly approve: (approval: AiSdkApproval, signal: AbortSignal) => Promise<boolean>;
  /** What a model is shown of each stream of a command, head and tail, in UTF-16 units; 50,000 by default. */
  readonly maxStreamLength?: number;
}

/** What the AI SDK hands to `execute`, as far as it is used. */
export interface AiSdkCallOptions {
  readonly toolCallId: string;
  /** The same array for all calls of one step: it tells which calls are siblings. */
  readonly messages?: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
}

/** A value for `tools` of `generateText` and its kin. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  /** Resolves with the text for the model; rejects with a message that tells it how to repair its call. */
  readonly execute: (input: unknown, options: AiSdkCallOptions) => Promise<string>;
}

/**
 * The tools for a loop of the AI SDK, by name. Calls of one step are prepared before the first of them is executed, and
 * those on the same file run one after the other.
 */
export function aiSdkTools(
  tools: readonly Tool[],
  options: AiSdkOptions,
): Readonly<Record<string, AiSdkTool>> {
  assertUsableBy('loop of the AI SDK', tools, options.cwd);
  const session = { id: randomIds.uuid(), cwd: options.cwd, agent: 'ai-sdk' };
  const order = new CallOrder();
  return Object.fromEntries(
    tools.map((tool) => [tool.spec.name, aiSdkTool(tool, { ...options, session, order })]),
  );
}

interface Surroundings extends AiSdkOptions {
  readonly session: PrepareContext['session'];
  readonly order: CallOrder;
}

function aiSdkTool(tool: Tool, surroundings: Surroundings): AiSdkTool {
  const { session, order } = surroundings;
  return {
    description: tool.spec.description,
    inputSchema: aiSdkSchema(tool.spec.parameters),
    execute: async (input, { toolCallId, messages, abortSignal }) => {
      const signal = abortSignal ?? new AbortController().signal;
      const turn = messages ?? {};
      const context = { callId: toolCallId, session, turn, model: null };
      const call = await order.prepared(turn, () => tool.prepare(input, context, signal));
      try {
        return await finished(call, { tool, toolCallId, surroundings }, signal);
      } finally {
        await call.dispose?.();
      }
    },
  };
}

async function finished(
  call: PreparedCall,
  { tool, toolCallId, surroundings }: { tool: Tool; toolCallId: string; surroundings: Surroundings },
  signal: AbortSignal,
): Promise<string> {
  const { approve, order, maxStreamLength = DEFAULT_STREAM_LENGTH } = surroundings;
  const { permission, operation } = call;
  if (!(await approve({ ...permission, operation, tool: tool.spec.name, toolCallId }, signal))) {
    throw toolError('permission_denied', `${permission.action} of ${permission.label} was refused`);
  }
  return order.alone(call.serializationKey, async () => {
    await call.revalidate?.(signal);
    const output = new CallOutput(tool.spec.output, maxStreamLength);
    const report = async ({
      chunks = [],
    }: {
      readonly chunks?: readonly { text: string; stream?: string }[];
    }) => output.take(chunks);
    return output.textOf(await call.execute({ callId: toolCallId, report, stdin: null }, signal));
  });
}
