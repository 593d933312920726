import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ListToolsRequestSchema, type CallToolRequest } from '@modelcontextprotocol/sdk/types.js';
import type { ToolDefinition } from '@agentd/contract';
import { toolListing, type McpTools } from '@agentd/core-tools/mcp';
import { z } from 'zod';
import { VERSION } from '../version.ts';

export interface ServedParts {
  readonly definitions: readonly ToolDefinition[];
  readonly call: McpTools['call'];
  /** What a model may be told of the server as a whole. */
  readonly instructions: string;
  /** What the client should hear once it is there. */
  readonly notice: string | null;
}

/** Lets every call through to the SDK's own check, which answers a malformed one as bad parameters. */
const anyCall = z.object({ method: z.literal('tools/call'), params: z.unknown() });

/** Serves one client over a transport, until either side closes it. */
export async function serveClient(
  { definitions, call, instructions, notice }: ServedParts,
  transport: Transport,
): Promise<McpServer> {
  const mcp = new McpServer(
    { name: 'agentd', title: 'agentd', version: VERSION },
    { capabilities: { logging: {} }, instructions },
  );
  const { server } = mcp;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler(ListToolsRequestSchema, () => toolListing(definitions));
  server.setRequestHandler(anyCall, (request, extra) => call(request as CallToolRequest, extra));
  server.oninitialized = () => {
    if (notice === null) return;
    const message = { level: 'warning', logger: 'agentd', data: notice } as const;
    void server.sendLoggingMessage(message).catch(() => undefined);
  };
  await mcp.connect(transport);
  return mcp;
}

export function instructionsFor(workspace: string): string {
  return [
    `The tools work in ${workspace}; relative paths start there.`,
    'Output that was cut names the call that reads the rest: read(filePath="artifact://…", offset=N).',
    'Calls made together overlap; calls on the same file run in the order in which they came.',
  ].join(' ');
}
