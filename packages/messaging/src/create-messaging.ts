import type { PrepareContext, ToolProvider } from '@agentd/contract';
import type { MessagingPorts } from './ports.ts';
import { createSendMessageTool } from './send-message-tool.ts';
import { DEFAULT_MESSAGING_SETTINGS, type MessagingSettings } from './settings.ts';

/** `send_message`, and what a child's prompt says of whom it can write to (MSG-9). */
export function createMessaging(
  ports: MessagingPorts,
  settings: MessagingSettings = DEFAULT_MESSAGING_SETTINGS,
): ToolProvider {
  const tools = [createSendMessageTool(ports, settings)];
  return {
    id: 'builtin.messaging',
    tools: async () => tools,
    promptSection: async (session) => (settings.enabled ? parentSection(ports, session) : null),
  };
}

async function parentSection(
  { directory, rules }: MessagingPorts,
  session: PrepareContext['session'],
): Promise<string | null> {
  const own = await directory.find(session.id);
  if (own === null || own.parentId === null || !rules.reach(session, 'parent')) return null;
  const parent = await directory.find(own.parentId);
  if (parent === null) return null;
  return [
    `Your handle is ${own.handle}. The agent that started you is ${parent.handle}; send_message with to "${parent.handle}" reaches it.`,
    'Your final answer goes to it by itself: write to it for what it must know before.',
  ].join('\n');
}
