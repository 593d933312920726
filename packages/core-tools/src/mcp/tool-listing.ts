import type { ToolDefinition } from '@agentd/contract';
import type { McpTool } from './mcp-shapes.ts';

type Manner = Pick<McpTool, 'title' | 'annotations'>;

/** How each of the five behaves; a tool of another name is listed without hints. */
const MANNERS: Readonly<Record<string, Manner>> = {
  read: { title: 'Read a file', annotations: { readOnlyHint: true, openWorldHint: false } },
  write: {
    title: 'Write a file',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  edit: {
    title: 'Edit a file',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  },
  bash: {
    title: 'Run a command',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  webfetch: { title: 'Fetch a web page', annotations: { readOnlyHint: true, openWorldHint: true } },
};

/** The result of `tools/list` for these tools, all on one page. */
export function toolListing(definitions: readonly ToolDefinition[]): { tools: McpTool[] } {
  return {
    tools: definitions.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: { ...parameters, type: 'object' },
      ...(Object.hasOwn(MANNERS, name) ? MANNERS[name] : {}),
    })),
  };
}
