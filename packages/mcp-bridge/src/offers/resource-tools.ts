import { z } from 'zod';
import {
  defineTool,
  isJsonObject,
  toolError,
  type JsonValue,
  type MediaGate,
  type PreparedCall,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { sanitized } from '../names/tool-names.ts';
import { linkText } from '../result/resource-link.ts';
import { mappedResource } from '../result/map-result.ts';
import type { MappedBlock, MediaTerms } from '../result/media-block.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { asToolError } from './call-failure.ts';

export const LIST_RESOURCES_TOOL = 'mcp_list_resources';
export const READ_RESOURCE_TOOL = 'mcp_read_resource';

export interface ResourceParts {
  readonly servers: () => readonly ManagedServer[];
  readonly media: MediaGate | null;
}

/** Resources of servers, listed and read: what resource links lead to. */
export function resourceTools(parts: ResourceParts): readonly Tool[] {
  return [listTool(parts), readTool(parts)];
}

const COMMON = { action: 'mcp', concurrency: 'parallel', origin: 'mcp' } as const;

function listTool({ servers }: ResourceParts): Tool {
  const names = servers().map(({ name }) => name);
  return defineTool({
    ...COMMON,
    name: LIST_RESOURCES_TOOL,
    description: `Lists resources and resource templates of an MCP server, one page at a time. Servers: ${names.join(', ')}.`,
    schema: z.strictObject({
      server: z.string().describe('The server.'),
      cursor: z.string().optional().describe('The next page, as the page before named it.'),
    }),
    prepare: async ({ server: name, cursor }): Promise<PreparedCall> => {
      const server = requireServer(servers(), name);
      return {
        permission: { action: 'mcp', label: `${sanitized(name)}_list_resources` },
        operation: { server: name, list: 'resources', cursor: cursor ?? null },
        execute: (_context, signal) =>
          asCall({ server, what: 'the list of resources' }, () => listed(server, cursor, signal), signal),
      };
    },
  });
}

async function listed(
  server: ManagedServer,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const page = await server.page('resources', cursor, signal);
  const links = page.items.filter((item) => isJsonObject(item)).map((item) => linkText(item, server.name));
  // Templates are few, and many servers have none: they stand on the first page.
  const templates = cursor === undefined ? await templatesOf(server, signal) : [];
  const next = page.nextCursor === undefined ? [] : [`next page: cursor ${JSON.stringify(page.nextCursor)}`];
  const text = [...links, ...templates, ...next].join('\n') || 'no resources';
  return {
    output: { kind: 'single', text },
    metadata: { mcp: { server: server.name, resources: links.length } },
  };
}

async function templatesOf(server: ManagedServer, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { items } = await server.page('resourceTemplates', undefined, signal);
    return items
      .filter((item) => isJsonObject(item))
      .map((item) => {
        const { uriTemplate, description = '' } = item;
        return `[MCP resource template: ${JSON.stringify(uriTemplate)}; ${JSON.stringify(description)}]`;
      });
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

function readTool({ servers, media }: ResourceParts): Tool {
  return defineTool({
    ...COMMON,
    name: READ_RESOURCE_TOOL,
    description: `Reads a resource of an MCP server by its URI, as a resource link or ${LIST_RESOURCES_TOOL} names it.`,
    schema: z.strictObject({
      server: z.string().describe('The server that named the URI.'),
      uri: z.string().describe('The URI.'),
    }),
    prepare: async ({ server: name, uri }, { model }): Promise<PreparedCall> => {
      const server = requireServer(servers(), name);
      return {
        permission: { action: 'mcp', label: `${sanitized(name)}_${uri}` },
        operation: { server: name, uri },
        execute: (_context, signal) =>
          asCall(
            { server, what: uri },
            () => readResource({ server, uri }, { gate: media, model }, signal),
            signal,
          ),
      };
    },
  });
}

interface WantedResource {
  readonly server: ManagedServer;
  readonly uri: string;
}

async function readResource(
  { server, uri }: WantedResource,
  terms: MediaTerms,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const result = await server.read(uri, signal);
  const contents = Array.isArray(result['contents']) ? (result['contents'] as readonly JsonValue[]) : [];
  const mapped: MappedBlock[] = [];
  for (const content of contents) mapped.push(await mappedResource(content, terms, signal));
  const files = mapped.flatMap(({ file }) => (file === undefined ? [] : [file]));
  const error = mapped.find((block) => block.error !== undefined)?.error;
  return {
    output: {
      kind: 'single',
      text:
        mapped
          .map(({ text }) => text)
          .join('\n')
          .toWellFormed() || '[no content]',
    },
    metadata: { mcp: { server: server.name, uri } },
    ...(files.length === 0 ? {} : { attachments: files }),
    ...(error === undefined ? {} : { error }),
  };
}

function requireServer(servers: readonly ManagedServer[], name: string): ManagedServer {
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const names = servers.map((server) => server.name).join(', ');
  throw toolError('not_found', `no MCP server ${JSON.stringify(name)} with resources; there are: ${names}`);
}

async function asCall(
  subject: { readonly server: ManagedServer; readonly what: string },
  work: () => Promise<ToolCompletion>,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw asToolError(error, subject);
  }
}
