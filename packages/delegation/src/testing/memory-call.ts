import {
  isAgentdError,
  messageOf,
  toolError,
  type SessionFacts,
  type Tool,
  type ToolCallId,
  type ToolCompletion,
} from '@agentd/contract';
import type { MemoryCall } from './memory-run.ts';

/** One call of a tool, and the session that makes it. */
export interface CallToMake {
  readonly callId: ToolCallId;
  readonly name: string;
  readonly args: unknown;
  readonly facts: SessionFacts;
  readonly tools: readonly Tool[];
}

/** Prepares and executes a call as an engine does; what went wrong is its outcome. */
export async function makeCall(call: CallToMake, signal: AbortSignal): Promise<MemoryCall> {
  return execute(call, signal).then(callOf, failedCall);
}

async function execute(
  { callId, name, args, facts: { sessionId: id, agent, cwd }, tools }: CallToMake,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const tool = tools.find(({ spec }) => spec.name === name);
  if (tool === undefined) throw toolError('not_published', `${name} is not published`);
  const session = { id, cwd, agent };
  const prepared = await tool.prepare(args, { callId, session, turn: {}, model: null }, signal);
  return prepared.execute({ callId, report: async () => undefined, stdin: null }, signal);
}

function callOf({ output, metadata = {}, error }: ToolCompletion): MemoryCall {
  const text = output.kind === 'single' ? output.text : '';
  const outcome = error === undefined ? 'completed' : outcomeOf(error.code);
  return { outcome, text, metadata, error: error ?? null };
}

function failedCall(thrown: unknown): MemoryCall {
  const error = {
    code: isAgentdError(thrown) ? thrown.code : 'execution_failed',
    message: messageOf(thrown),
  };
  return { outcome: outcomeOf(error.code), text: '', metadata: {}, error };
}

function outcomeOf(code: string): MemoryCall['outcome'] {
  return code === 'cancelled' ? 'cancelled' : 'failed';
}
