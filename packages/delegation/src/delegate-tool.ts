import {
  defineTool,
  isAgentdError,
  toolError,
  type ExecuteContext,
  type PreparedCall,
  type PrepareContext,
  type SessionFacts,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { z } from 'zod';
import { whileListening } from './abortable.ts';
import type { Admission, DelegationRequest } from './admission.ts';
import { endCompletion, startCompletion } from './completions.ts';
import { clientRunIdOf, type Crew } from './crew.ts';
import type { DelegationEnd, DelegationRecord } from './delegation-record.ts';
import { callerOf, resolveChild } from './own-children.ts';
import type { AgentListing, DelegationPorts } from './ports.ts';
import { previewOf } from './preview.ts';
import type { DelegationSettings } from './settings.ts';

/** What the three tools share. */
export interface Delegating {
  readonly ports: DelegationPorts;
  readonly settings: DelegationSettings;
  readonly crew: Crew;
  readonly admission: Admission;
}

const DESCRIPTION = [
  'Gives a task to a subagent, which works in a session of its own and knows nothing but the prompt (and, with inherit_context, what was said here).',
  'In the foreground the call waits for its end; several calls in one turn run side by side. With background: true it returns at once, and the result comes to you by itself as a message: do not wait or ask for it.',
  'The result shows the start of what the subagent said last and its handle, such as explore_1a2b3c4d, which get_subagent_result, cancel_subagent and resume_session_id take.',
].join(' ');

const text = (description: string) =>
  z
    .string()
    .min(1)
    .refine((value) => value.trim() !== '', 'must not be blank')
    .describe(description);

function argumentsFor(targets: readonly AgentListing[]) {
  const ids = targets.map(({ id }) => id);
  return z.strictObject({
    description: text('What the task is, in a few words.'),
    prompt: text('The whole task, with everything that the subagent must know, and what to report.'),
    agent_type: z.enum(ids).describe('Which agent.'),
    background: z.boolean().default(false).describe('true: do not wait for the end.'),
    resume_session_id: z
      .string()
      .optional()
      .describe(
        'Continue a subagent of yours, with its history, instead of a new one: its handle, such as explore_1a2b3c4d, or its session UUID. Leave it out to start a new one.',
      ),
    inherit_context: z
      .boolean()
      .default(false)
      .describe('true: the subagent also reads what was said in this conversation so far.'),
  });
}

type DelegateArguments = z.infer<ReturnType<typeof argumentsFor>>;

/** The tool `delegate_subagent` for a run with these targets (DLG-3). */
export function createDelegateTool(delegating: Delegating, targets: readonly AgentListing[]): Tool {
  return defineTool({
    name: 'delegate_subagent',
    description: DESCRIPTION,
    schema: argumentsFor(targets),
    action: 'delegate',
    concurrency: 'parallel',
    truncation: 'opt_out',
    prepare: (args, context) => prepareDelegation(args, context, delegating),
  });
}

async function prepareDelegation(
  args: DelegateArguments,
  { session, callId }: PrepareContext,
  delegating: Delegating,
): Promise<PreparedCall> {
  const { host } = delegating.ports;
  const caller = await callerOf(host, session.id);
  refuseDepth(caller, delegating.settings);
  const child = await resumedChild(args, caller, host);
  const request: DelegationRequest = {
    parentId: session.id,
    callId,
    agent: args.agent_type,
    title: args.description,
    prompt: args.prompt,
    background: args.background,
    inheritContext: args.inherit_context,
    child,
  };
  return {
    permission: { action: 'delegate', label: args.agent_type },
    operation: { tool: 'delegate_subagent', ...args, resume_session_id: child?.sessionId ?? null },
    execute: (_context: ExecuteContext, signal) => execute(request, delegating, signal),
  };
}

/** A chain of agents that hand their task on ends here, also where the tool is called without being offered (field F7). */
function refuseDepth({ depth }: SessionFacts, { maxDepth }: DelegationSettings): void {
  if (depth < maxDepth) return;
  throw toolError(
    'not_supported',
    `subagents may be nested ${maxDepth} deep and you are at that depth: do the work yourself`,
  );
}

async function resumedChild(
  { resume_session_id: reference, inherit_context: inherits, agent_type: agent }: DelegateArguments,
  caller: SessionFacts,
  host: DelegationPorts['host'],
): Promise<SessionFacts | null> {
  if (reference === undefined) return null;
  if (inherits)
    throw toolError(
      'invalid_arguments',
      'resume_session_id and inherit_context exclude each other: a subagent that is resumed has its own history. Leave one of them out',
    );
  const { facts } = await resolveChild(host, caller, reference);
  if (facts.agent === agent) return facts;
  throw toolError(
    'invalid_arguments',
    `${facts.handle} is of the agent_type ${JSON.stringify(facts.agent)}, not ${JSON.stringify(agent)}; name its own, or leave resume_session_id out to start a new subagent`,
  );
}

async function execute(
  request: DelegationRequest,
  { admission, crew, ports: { host } }: Delegating,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const record = await admission.admit(request, signal).catch((error: unknown) => {
    throw host.shutdown.aborted && !isAgentdError(error) ? stopping(error) : error;
  });
  if (record.end !== null) return endCompletion(record, record.end);
  if (record.background) return startCompletion(record);
  const job = crew.jobOf(record.invocationId);
  const ended = await whileListening(
    signal,
    () => job?.cancel('run'),
    async () => job?.end,
  );
  return endCompletion(record, ended?.end ?? (await unrecordedEnd(record, host)));
}

/** The log could not take the end, as once the engine stops: the child is named all the same, with what it had. */
async function unrecordedEnd(
  record: DelegationRecord,
  host: DelegationPorts['host'],
): Promise<DelegationEnd> {
  const run = await host.run(record.childId, clientRunIdOf(record)).catch(() => null);
  const status = run === null || run.status === 'running' ? 'interrupted' : run.status;
  return { status, ...previewOf(run?.text ?? ''), error: run?.error ?? null, delivery: 'call' };
}

function stopping(cause?: unknown) {
  return toolError('interrupted', 'the engine stops; no subagent was started', {
    cause,
  });
}
