import {
  codeOf,
  defineTool,
  toolError,
  type ExecuteContext,
  type PreparedCall,
  type PrepareContext,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { z } from 'zod';
import { argumentsProblem } from './arguments-problem.ts';
import { refusalError, type Refusal } from './errors.ts';
import { bodyProblem, switchProblem } from './guards.ts';
import type { MessagingPorts, Peer } from './ports.ts';
import { relationOf } from './relation.ts';
import { recipientById, resolveRecipient } from './resolve-recipient.ts';
import { sendToPeer } from './send.ts';
import { DEFAULT_MESSAGING_SETTINGS, type MessagingSettings } from './settings.ts';

const ARGUMENTS = z.strictObject({
  to: z
    .string()
    .describe('The handle of an agent of your tree, such as explore_1a2b3c4d, or its session UUID.'),
  body: z.string().describe('What to say, as Markdown.'),
  mode: z
    .enum(['steer', 'queue'])
    .default('steer')
    .describe('steer: read at its next step. queue: read when it has nothing left to do.'),
});

type SendArguments = z.infer<typeof ARGUMENTS>;

const DESCRIPTION = [
  'Sends a message to another agent of your tree: your parent, a child, a sibling or any other.',
  'Success means that it is stored and will be delivered, once, also after a restart; it does not mean that it was read.',
  'An agent that is idle or has finished is woken by it. Answers come to you as messages by themselves: do not wait or ask for them.',
].join(' ');

/** The tool `send_message` (MSG-1 to MSG-7). */
export function createSendMessageTool(
  ports: MessagingPorts,
  settings: MessagingSettings = DEFAULT_MESSAGING_SETTINGS,
): Tool {
  const tool = defineTool({
    name: 'send_message',
    description: DESCRIPTION,
    schema: ARGUMENTS,
    action: 'message',
    concurrency: 'parallel',
    prepare: (args, context) => prepareSend(args, { ports, settings, context }),
  });
  return {
    spec: tool.spec,
    prepare: async (args, context, signal) => {
      refuse(switchProblem(settings));
      return tool.prepare(args, context, signal).catch((error: unknown) => {
        // The contract's own text quotes what the parser found; this tool must not (MSG-5).
        throw codeOf(error) === 'invalid_arguments' ? refusalError(argumentsProblem(args)) : error;
      });
    },
  };
}

interface Sending {
  readonly ports: MessagingPorts;
  readonly settings: MessagingSettings;
  readonly context: PrepareContext;
}

async function prepareSend(args: SendArguments, sending: Sending): Promise<PreparedCall> {
  const { ports, settings, context } = sending;
  refuse(bodyProblem(args.body, settings));
  const sender = await senderOf(ports, context);
  const recipient = await resolveRecipient(ports.directory, sender, args.to);
  return {
    permission: { action: 'message', label: relationOf(sender, recipient) },
    operation: { tool: 'send_message', to: recipient.sessionId, body: args.body, mode: args.mode },
    // Calls of one turn to one recipient are accepted in call order (MSG-10).
    serializationKey: `message:${recipient.sessionId}`,
    execute: (execution, signal) => executeSend({ args, sender, recipient, execution }, sending, signal),
  };
}

interface PreparedSend {
  readonly args: SendArguments;
  readonly sender: Peer;
  readonly recipient: Peer;
  readonly execution: ExecuteContext;
}

async function executeSend(
  { args, sender, recipient, execution }: PreparedSend,
  { ports, settings }: Sending,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  // It may have been reverted since; its inbox would be nobody's.
  await recipientById(ports.directory, sender, recipient.sessionId);
  const message = { callId: execution.callId, mode: args.mode, body: args.body };
  const { messageId, mode, recipientState } = await sendToPeer(
    ports,
    { sender, recipient, message, settings },
    signal,
  );
  const text = `Message to ${recipient.handle} accepted: message_id ${messageId}, mode ${mode}, recipient_state ${recipientState}.`;
  return {
    output: { kind: 'single', text },
    metadata: { message_id: messageId, mode, recipient_state: recipientState },
  };
}

async function senderOf({ directory }: MessagingPorts, { session }: PrepareContext): Promise<Peer> {
  const sender = await directory.find(session.id);
  if (sender === null) throw toolError('execution_failed', 'your own session is not known to messaging');
  return sender;
}

function refuse(problem: Refusal | null): void {
  if (problem !== null) throw refusalError(problem);
}
