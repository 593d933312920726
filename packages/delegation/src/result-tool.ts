import {
  defineTool,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { z } from 'zod';
import { childMetadata } from './completions.ts';
import { callerOf, resolveChild } from './own-children.ts';
import type { DelegationPorts } from './ports.ts';
import { resultPage } from './result-page.ts';

const DEFAULT_LIMIT = 2000;

const ARGUMENTS = z.strictObject({
  session_id: z
    .string()
    .describe('The handle of a subagent of yours, such as explore_1a2b3c4d, or its session UUID.'),
  offset: z.int().min(0).default(0).describe('Zero-based first line.'),
  limit: z.int().min(1).default(DEFAULT_LIMIT).describe('How many lines.'),
});

type ResultArguments = z.infer<typeof ARGUMENTS>;

const DESCRIPTION = [
  'Shows where a subagent of yours stands (queued, running, completed, failed, cancelled, interrupted) and, once it has ended, what it said last, by lines.',
  'It never waits: the result of a background subagent comes to you by itself.',
].join(' ');

/** The tool `get_subagent_result` (DLG-8). */
export function createResultTool({ host }: Pick<DelegationPorts, 'host'>): Tool {
  return defineTool({
    name: 'get_subagent_result',
    description: DESCRIPTION,
    schema: ARGUMENTS,
    action: 'delegate',
    truncation: 'opt_out',
    prepare: (args, context) => prepareResult(args, context, host),
  });
}

async function prepareResult(
  args: ResultArguments,
  { session }: PrepareContext,
  host: DelegationPorts['host'],
): Promise<PreparedCall> {
  const { facts } = await resolveChild(host, await callerOf(host, session.id), args.session_id);
  return {
    permission: { action: 'delegate', label: facts.agent },
    operation: { tool: 'get_subagent_result', ...args, session_id: facts.sessionId },
    execute: async () => {
      const caller = await callerOf(host, session.id);
      return showResult(args, await resolveChild(host, caller, facts.sessionId), host);
    },
  };
}

async function showResult(
  { offset, limit }: ResultArguments,
  { facts: { sessionId, handle }, status }: Awaited<ReturnType<typeof resolveChild>>,
  host: DelegationPorts['host'],
): Promise<ToolCompletion> {
  const name = childMetadata({ sessionId, handle }, status);
  const run = await host.run(sessionId);
  if (run === null || status === 'queued' || status === 'running' || run.status === 'running') {
    // Nothing is said until the turn has ended, whatever the page.
    const { text, metadata } = resultPage(status, '', { offset: 0, limit });
    return { output: { kind: 'single', text }, metadata: { ...name, ...metadata } };
  }
  const { text, metadata } = resultPage(status, run.text, { offset, limit });
  return {
    output: { kind: 'single', text },
    metadata: { ...name, ...metadata },
    ...(run.error === null ? {} : { closingLine: `${run.error.code}: ${run.error.message}` }),
  };
}
