import {
  isJsonObject,
  type AttachedFile,
  type JsonObject,
  type JsonValue,
  type ToolCompletion,
  type ToolError,
} from '@agentd/contract';
import { mappedMedia, type MappedBlock, type MediaTerms } from './media-block.ts';
import { linkText } from './resource-link.ts';
import { structuredText, structuredMetadata } from './structured-content.ts';

interface ResultOrigin {
  readonly server: string;
  readonly tool: string;
}

interface ResultTerms extends MediaTerms {
  readonly origin: ResultOrigin;
}

/**
 * What a model and the log get of a `tools/call` result, which may be anything: every block in its order, media through
 * the gate, and the server's own error as ours (MCP-5, MED-8). Servers cannot author messages: there is nothing here
 * but text, files and metadata.
 */
export async function mappedResult(
  result: JsonObject,
  terms: ResultTerms,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const blocks = Array.isArray(result['content']) ? (result['content'] as readonly JsonValue[]) : [];
  const mapped: MappedBlock[] = [];
  for (const [index, block] of blocks.entries())
    mapped.push(await mappedContent({ block, index }, terms, signal));
  const structured =
    isJsonObject(result['structuredContent']) || Array.isArray(result['structuredContent'])
      ? (result['structuredContent'] as JsonObject)
      : null;
  const isError = result['isError'] === true;
  const extra = structured === null ? null : structuredText(structured, blocks);
  const texts = [...mapped.map(({ text }) => text), ...(extra === null ? [] : [extra])];
  const files = mapped.flatMap(({ file }) => (file === undefined ? [] : [file]));
  return completionOf({
    text: texts.join('\n') || '[no content]',
    files,
    error: errorOf(mapped, isError ? texts : null, terms.origin),
    metadata: {
      mcp: {
        ...terms.origin,
        is_error: isError,
        ...(structured === null ? {} : structuredMetadata(structured, blocks)),
      },
    },
  });
}

interface Completed {
  readonly text: string;
  readonly files: readonly AttachedFile[];
  readonly error: ToolError | undefined;
  readonly metadata: JsonObject;
}

function completionOf({ text, files, error, metadata }: Completed): ToolCompletion {
  return {
    output: { kind: 'single', text: text.toWellFormed() },
    metadata,
    ...(error === undefined ? {} : { error }),
    ...(files.length === 0 ? {} : { attachments: files }),
  };
}

/** The server's own error goes first; then the first block that the gate refused. */
function errorOf(
  mapped: readonly MappedBlock[],
  failed: readonly string[] | null,
  { server, tool }: ResultOrigin,
): ToolError | undefined {
  if (failed !== null) {
    return {
      code: 'mcp_error',
      message: `${tool} of MCP server ${server} reports an error; its result says what`,
    };
  }
  return mapped.find(({ error }) => error !== undefined)?.error;
}

interface Placed {
  readonly block: JsonValue;
  readonly index: number;
}

async function mappedContent(
  { block, index }: Placed,
  terms: ResultTerms,
  signal: AbortSignal,
): Promise<MappedBlock> {
  const type = isJsonObject(block) ? block['type'] : undefined;
  if (!isJsonObject(block) || typeof type !== 'string') return { text: '[MCP content block without a type]' };
  switch (type) {
    case 'text':
      return { text: typeof block['text'] === 'string' ? block['text'] : '' };
    case 'image':
    case 'audio':
      return mappedMedia(
        {
          base64: asText(block['data']),
          label: `${type} ${index + 1}`,
          name: null,
          mimeType: asText(block['mimeType']) || null,
          mustBeMedia: true,
        },
        terms,
        signal,
      );
    case 'resource':
      return mappedResource(block['resource'], terms, signal);
    case 'resource_link':
      return { text: linkText(block, terms.origin.server) };
    default:
      return { text: `[unsupported MCP content block: ${type.slice(0, 40)}]` };
  }
}

/** An embedded resource, or one of `resources/read`. */
export async function mappedResource(
  resource: JsonValue | undefined,
  terms: MediaTerms,
  signal: AbortSignal,
): Promise<MappedBlock> {
  if (!isJsonObject(resource)) return { text: '[MCP resource without content]' };
  const uri = asText(resource['uri']) || 'resource';
  if (typeof resource['text'] === 'string') return { text: `[${uri}]\n${resource['text']}` };
  if (typeof resource['blob'] !== 'string') return { text: `[${uri}: no content]` };
  return mappedMedia(
    {
      base64: resource['blob'],
      label: uri,
      name: uri.split(/[?#]/)[0]?.split('/').at(-1) || null,
      mimeType: asText(resource['mimeType']) || null,
      mustBeMedia: false,
    },
    terms,
    signal,
  );
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
