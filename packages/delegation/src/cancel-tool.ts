import {
  defineTool,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { z } from 'zod';
import { childMetadata } from './completions.ts';
import type { ChildStatus } from './child-status.ts';
import type { Delegating } from './delegate-tool.ts';
import type { DelegationRecord } from './delegation-record.ts';
import { endNotice } from './notices.ts';
import { callerOf, resolveChild, type OwnChild } from './own-children.ts';
import { previewOf, type Preview } from './preview.ts';

const ARGUMENTS = z.strictObject({
  session_id: z
    .string()
    .describe('The handle of a subagent of yours, such as explore_1a2b3c4d, or its session UUID.'),
  reason: z.string().optional().describe('Why, for people who read the log.'),
});

type CancelArguments = z.infer<typeof ARGUMENTS>;

const DESCRIPTION = [
  'Ends a subagent of yours that runs or waits for its turn, with all subagents that it has at work, and shows what it had said.',
  'One that has ended is left as it is. A cancelled subagent can be continued with delegate_subagent and resume_session_id.',
].join(' ');

/** The tool `cancel_subagent` (DLG-14). */
export function createCancelTool(delegating: Delegating): Tool {
  return defineTool({
    name: 'cancel_subagent',
    description: DESCRIPTION,
    schema: ARGUMENTS,
    action: 'delegate',
    prepare: (args, context) => prepareCancel(args, context, delegating),
  });
}

async function prepareCancel(
  args: CancelArguments,
  { session }: PrepareContext,
  delegating: Delegating,
): Promise<PreparedCall> {
  const { host } = delegating.ports;
  const { facts } = await resolveChild(host, await callerOf(host, session.id), args.session_id);
  return {
    permission: { action: 'delegate', label: facts.agent },
    operation: { tool: 'cancel_subagent', session_id: facts.sessionId, reason: args.reason ?? null },
    execute: () => cancel(session.id, facts.sessionId, delegating),
  };
}

async function cancel(
  callerId: string,
  childId: string,
  { crew, ports: { host } }: Delegating,
): Promise<ToolCompletion> {
  const cancelled = await crew.cancelChild(childId);
  // A run that a message has started has no job.
  await host.cancelRun(childId);
  const child = await resolveChild(host, await callerOf(host, callerId), childId);
  return endedCompletion(child, await endOf(child, cancelled, host));
}

type ShownEnd = Preview & { readonly status: ChildStatus };

/** The end of the prompt that was cancelled last, or how the child stands by itself. */
async function endOf(
  { facts, status }: OwnChild,
  cancelled: DelegationRecord | null,
  host: Delegating['ports']['host'],
): Promise<ShownEnd> {
  if (cancelled !== null && cancelled.end !== null) return cancelled.end;
  const run = await host.run(facts.sessionId);
  return { status, ...previewOf(run?.text ?? '') };
}

function endedCompletion({ facts }: OwnChild, end: ShownEnd): ToolCompletion {
  const { status, preview, lines, truncated } = end;
  return {
    output: { kind: 'single', text: endNotice(facts.handle, { status, preview, lines, truncated }) },
    metadata: childMetadata(facts, status),
  };
}
