/** Tools of ours: a server's tool of the same name gets another one (MCP-3). A test holds them against what there is. */
export const BUILTIN_TOOL_NAMES = [
  'read',
  'write',
  'edit',
  'bash',
  'webfetch',
  'delegate_subagent',
  'get_subagent_result',
  'cancel_subagent',
  'send_message',
  'skill',
  'goal_get',
  'goal_update',
] as const;
