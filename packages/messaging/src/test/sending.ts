import type { PreparedCall, ToolCompletion } from '@agentd/contract';
import { createSendMessageTool } from '../send-message-tool.ts';
import { DEFAULT_MESSAGING_SETTINGS, type MessagingSettings } from '../settings.ts';
import type { MemoryTree } from '../testing/memory-tree.ts';
import type { Peer } from '../ports.ts';

export interface Sending {
  readonly prepare: (from: Peer, args: unknown, callId?: string) => Promise<PreparedCall>;
  readonly send: (from: Peer, args: unknown, callId?: string) => Promise<ToolCompletion>;
}

/** Calls of `send_message` as an engine makes them. */
export function sending(tree: MemoryTree, changes: Partial<MessagingSettings> = {}): Sending {
  const tool = createSendMessageTool(tree.ports, { ...DEFAULT_MESSAGING_SETTINGS, ...changes });
  const { signal } = new AbortController();
  let calls = 0;
  const idOf = (callId?: string): string => callId ?? `call-${(calls += 1)}`;
  const prepare: Sending['prepare'] = (from, args, callId = idOf()) =>
    tool.prepare(
      args,
      { callId, session: { id: from.sessionId, cwd: '/', agent: 'a' }, turn: {}, model: null },
      signal,
    );
  return {
    prepare,
    send: async (from, args, callId = idOf()) => {
      const prepared = await prepare(from, args, callId);
      return prepared.execute({ callId, report: async () => undefined, stdin: null }, signal);
    },
  };
}
