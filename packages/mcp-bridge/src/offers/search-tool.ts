import { z } from 'zod';
import {
  defineTool,
  toolError,
  type JsonObject,
  type JsonValue,
  type PreparedCall,
  type Tool,
} from '@agentd/contract';
import { searchTools, type NamedTool } from './search-index.ts';

/** What is offered through search instead of in the prompt. */
export interface DeferredTools {
  /** As it stands now. */
  readonly tools: () => readonly NamedTool[];
  /** The tool behind a published name, whether deferred or not; undefined for none. */
  readonly find: (name: string) => Tool | undefined;
}

export const SEARCH_TOOL = 'mcp_search_tools';
export const CALL_TOOL = 'mcp_call';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;

/** `mcp_search_tools`: finds tools that are not in the prompt. */
export function searchTool(deferred: DeferredTools): Tool {
  const servers = [...new Set(deferred.tools().map(({ tool }) => tool.server.name))].join(', ');
  return defineTool({
    name: SEARCH_TOOL,
    description:
      `Finds tools of MCP servers that are not listed here: ${deferred.tools().length} more, of ${servers}. ` +
      `Gives their names, descriptions and parameters; call them with ${CALL_TOOL}.`,
    action: 'mcp',
    concurrency: 'parallel',
    origin: 'mcp',
    schema: z.strictObject({
      query: z.string().describe('Words for what the tool should do; empty lists all.'),
      limit: z
        .int()
        .min(1)
        .max(MAX_LIMIT)
        .optional()
        .describe(`How many at most; ${DEFAULT_LIMIT} by default.`),
    }),
    prepare: async ({ query, limit = DEFAULT_LIMIT }): Promise<PreparedCall> => ({
      permission: { action: 'mcp', label: SEARCH_TOOL },
      operation: { query, limit },
      execute: async () => {
        const all = deferred.tools();
        const found = searchTools(all, query, limit);
        const text =
          found.length === 0
            ? `no tool fits; there are ${all.length}; try other words, or an empty query`
            : `${found.map(described).join('\n\n')}\n\n${found.length} of ${all.length} tools`;
        return {
          output: { kind: 'single', text },
          metadata: { mcp: { found: found.map(({ name }) => name) } },
        };
      },
    }),
  });
}

function described({ name, tool }: NamedTool): string {
  return `${name}\n${tool.description}\nparameters: ${JSON.stringify(tool.parameters)}`;
}

const callSchema = z.strictObject({
  tool: z.string(),
  arguments: z.looseObject({}).nullish(),
});

const CALL_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    tool: { type: 'string', description: `The name, as ${SEARCH_TOOL} gives it.` },
    arguments: { type: 'object', description: 'Its arguments, by its parameters.' },
  },
  required: ['tool'],
  additionalProperties: false,
};

/** `mcp_call`: a call of any MCP tool by its name; it is judged, labelled, scheduled and logged as that tool. */
export function callTool(deferred: DeferredTools): Tool {
  return {
    spec: {
      name: CALL_TOOL,
      description: `Calls a tool that ${SEARCH_TOOL} found.`,
      parameters: CALL_PARAMETERS,
      action: 'mcp',
      concurrency: 'parallel',
      output: { kind: 'single' },
      truncation: 'bounded',
      origin: 'mcp',
    },
    prepare: async (args, context, signal) => {
      const parsed = callSchema.safeParse(args);
      if (!parsed.success) {
        const wanted = '{"tool": name, "arguments": {…}}';
        throw toolError('invalid_arguments', `invalid arguments for ${CALL_TOOL}: expected ${wanted}`);
      }
      const { tool: name, arguments: inner } = parsed.data;
      const tool = deferred.find(name);
      if (tool !== undefined) {
        const prepared = await tool.prepare(inner ?? {}, context, signal);
        return { ...prepared, standsFor: { tool: name, args: (inner ?? {}) as JsonValue } };
      }
      throw toolError(
        'not_published',
        `no MCP tool ${JSON.stringify(name)}; find its name with ${SEARCH_TOOL}`,
      );
    },
  };
}
