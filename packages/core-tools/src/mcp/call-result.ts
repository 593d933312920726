import type { McpCallResult, McpContent } from './mcp-shapes.ts';

/** A file that goes to the client with a result. */
export interface ServedFile {
  readonly bytes: Uint8Array;
  /** Of the content. */
  readonly mimeType: string;
  /** Names the file where the protocol wants it named: neither image nor sound. */
  readonly uri: string;
}

export interface CallResultInit {
  /** What a model reads; may be empty where there are files. */
  readonly text: string;
  readonly files?: readonly ServedFile[];
  /** The call did not complete. */
  readonly failed: boolean;
}

/** A result as MCP carries it: the text, then images and sound as such, anything else as an embedded resource. */
export function callResult({ text, files = [], failed }: CallResultInit): McpCallResult {
  const content: McpContent[] = files.map(fileContent);
  // Some providers refuse an empty text, which clients pass on as it is.
  if (text !== '' || content.length === 0) content.unshift({ type: 'text', text: text || '(no output)' });
  return failed ? { content, isError: true } : { content };
}

function fileContent({ bytes, mimeType, uri }: ServedFile): McpContent {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}
