import { z } from 'zod';
import * as rule from './leaf-rules.ts';

/** `oauth` of a server: `false` never authorizes; a table says as which client (MCP-6). */
const oauth = z.strictObject({
  client_id: rule.text.optional(),
  client_secret: rule.text.optional(),
  client_metadata_url: rule.text.optional(),
  scope: rule.text.optional(),
  callback_port: rule.integer(0, 65_535).optional(),
});

/** Keys that make sense with a program, and those that make sense with an address. */
const ONLY_WITH = { command: ['args', 'env', 'cwd'], url: ['headers', 'oauth'] } as const;

/** `[mcp.servers.NAME]` (CFG-3). */
export const mcpServer = z
  .strictObject({
    command: rule.text.optional(),
    args: rule.texts.optional(),
    env: rule.textsByName.optional(),
    cwd: rule.text.optional(),
    url: rule.text.optional(),
    headers: rule.textsByName.optional(),
    oauth: z.union([rule.flag, oauth]).optional(),
    enabled: rule.flag.optional(),
    lazy: rule.flag.optional(),
    timeout_ms: rule.integer(1).optional(),
  })
  .superRefine((table, context) => {
    const { command, url } = table;
    if ((command === undefined) === (url === undefined)) {
      const found = command === undefined ? 'neither' : 'both';
      context.addIssue({
        code: 'custom',
        message: 'expected exactly one of "command" and "url"',
        params: { found },
      });
      return;
    }
    const wrong = command === undefined ? 'command' : 'url';
    for (const key of ONLY_WITH[wrong]) {
      if (table[key] === undefined) continue;
      context.addIssue({ code: 'custom', path: [key], message: `expected only with "${wrong}"` });
    }
  });

export type McpServerTable = z.output<typeof mcpServer>;
