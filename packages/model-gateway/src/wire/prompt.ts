import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  isJsonObject,
  unreachable,
  type AssistantPart,
  type JsonObject,
  type ModelRequest,
  type PlacedMessage,
  type PlacedPart,
  type PlacedToolResult,
  type ToolDefinition,
} from '@agentd/contract';
import type { PlacedMedia } from '../media/place-media.ts';
import { wellFormed, wellFormedValue } from './well-formed.ts';

/** A request whose media has its place and its bytes. */
export type PlacedRequest = Omit<ModelRequest, 'messages'> & PlacedMedia;

/** What differs between wires when a request is written. */
export interface PromptShape {
  /** The model that the request goes to, `provider/model`. */
  readonly modelId: string;
  /** Goes on the system text, the last message, and the last one of the request before: what lies before is cached. */
  readonly cacheMark?: SharedV4ProviderOptions;
  /** Whether the wire can carry this reasoning back. Unsigned reasoning is refused by some. */
  readonly replays: (part: ReasoningPart) => boolean;
  /** Calls in the history are refused, or silently dropped, where the request names no tools. */
  readonly needsTools?: boolean;
  /** Goes on every file, for what a provider's schema demands and its package leaves out. */
  readonly fileOptions?: SharedV4ProviderOptions;
  /** The wire has no flag for a failed call; its package would wrap the text in JSON, and the text says it already. */
  readonly hasNoErrorFlag?: boolean;
}

type ReasoningPart = Extract<AssistantPart, { readonly type: 'reasoning' }>;

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;

/** Stands where a message would be empty: providers refuse an empty text, and go on refusing it (field I5). */
const EMPTY_MESSAGE = '(empty)';
const EMPTY_RESULT = '(no output)';

/** The prompt and the tools of a request, as the provider packages take them. */
export function promptOf(
  request: PlacedRequest,
  shape: PromptShape,
): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  const conversation = request.messages.map((message) => messageOf(message, { ...request, shape }));
  const marked = new Set([conversation.length - 1, endOfLastRequest(conversation)]);
  return {
    prompt: [
      ...systemOf(request.system, shape),
      ...conversation.map((message, index) => (marked.has(index) ? withMark(message, shape) : message)),
    ],
    ...toolsOf(request, shape),
  };
}

/**
 * The request before this one ended before the last answer, with a mark there. It gets one again: providers look back
 * over a few blocks only (Anthropic over 20), and a step with many calls has more.
 */
function endOfLastRequest(conversation: readonly LanguageModelV4Message[]): number {
  return conversation.findLastIndex(({ role }) => role === 'assistant') - 1;
}

function toolsOf({ tools, messages }: PlacedRequest, { needsTools }: PromptShape) {
  if (tools.length > 0) return { tools: tools.map(toolOf) };
  const used = needsTools === true ? [...new Set(messages.flatMap(toolsUsedIn))] : [];
  return used.length === 0 ? {} : { tools: used.map((name) => toolOf(pastTool(name))) };
}

function toolsUsedIn({ role, content }: PlacedMessage): string[] {
  return role === 'tool' ? content.map(({ tool }) => tool) : [];
}

/** Stands for a tool of earlier turns that this request does not offer. */
function pastTool(name: string): ToolDefinition {
  return { name, description: 'Was used earlier. Do not call it now.', parameters: { type: 'object' } };
}

function systemOf(system: string, shape: PromptShape): LanguageModelV4Message[] {
  return isBlank(system) ? [] : [withMark({ role: 'system', content: wellFormed(system) }, shape)];
}

function withMark<Message extends LanguageModelV4Message>(
  message: Message,
  { cacheMark }: PromptShape,
): Message {
  return cacheMark === undefined ? message : { ...message, providerOptions: cacheMark };
}

function toolOf({ name, description, parameters }: ToolDefinition): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    description,
    inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
  };
}

interface Mapping extends Pick<PlacedMedia, 'files'> {
  readonly shape: PromptShape;
}

function messageOf(message: PlacedMessage, mapping: Mapping): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message.content, mapping) };
    case 'assistant':
      return assistantMessage(message, mapping.shape);
    case 'tool':
      return { role: 'tool', content: message.content.map((result) => resultOf(result, mapping)) };
    default:
      return unreachable(message);
  }
}

type TextContent = { readonly type: 'text'; readonly text: string };
type FileContent = LanguageModelV4FilePart;

function userContent(parts: readonly PlacedPart[], mapping: Mapping): (TextContent | FileContent)[] {
  const content = contentOf(parts, mapping);
  return content.length > 0 ? content : [{ type: 'text', text: EMPTY_MESSAGE }];
}

/** Texts that say something, and files with their content as base64, which every package passes on as it is. */
function contentOf(
  parts: readonly PlacedPart[],
  { files, shape: { fileOptions } }: Mapping,
): (TextContent | FileContent)[] {
  const options = fileOptions === undefined ? {} : { providerOptions: fileOptions };
  return parts.flatMap((part): (TextContent | FileContent)[] => {
    if (part.type === 'text')
      return isBlank(part.text) ? [] : [{ type: 'text', text: wellFormed(part.text) }];
    const { mime_type: mediaType, sha256 } = part.attachment;
    const data = files.get(sha256);
    if (data === undefined) return [];
    return [{ type: 'file', mediaType, filename: part.filename, data: { type: 'data', data }, ...options }];
  });
}

function resultOf(
  { provider_call_id, tool, text, is_error, media }: PlacedToolResult,
  mapping: Mapping,
): LanguageModelV4ToolResultPart {
  const said = isBlank(text) ? EMPTY_RESULT : wellFormed(text);
  const content = contentOf(media, mapping);
  const part = { type: 'tool-result' as const, toolCallId: provider_call_id, toolName: tool };
  if (content.some(({ type }) => type === 'file')) {
    return { ...part, output: { type: 'content', value: [{ type: 'text', text: said }, ...content] } };
  }
  // Without a file it stays a text: chat wires would send a list of parts as its JSON.
  const notes = content.map((note) => (note.type === 'text' ? note.text : ''));
  const isFlagged = is_error && mapping.shape.hasNoErrorFlag !== true;
  return {
    ...part,
    output: { type: isFlagged ? 'error-text' : 'text', value: [said, ...notes].join('\n') },
  };
}

/** Reasoning and provider data go back to the model that made them, unchanged, and to no other (field I12). */
function assistantMessage(
  { model, content }: Extract<PlacedMessage, { role: 'assistant' }>,
  shape: PromptShape,
): AssistantMessage {
  const own = model === shape.modelId;
  const parts = content.filter((part) => isSent(part, own, shape)).map((part) => assistantPart(part, own));
  return { role: 'assistant', content: parts.length > 0 ? parts : [{ type: 'text', text: EMPTY_MESSAGE }] };
}

function isSent(part: AssistantPart, own: boolean, shape: PromptShape): boolean {
  if (part.type === 'tool_call') return true;
  if (part.type === 'text') return !isBlank(part.text);
  const hasContent = !isBlank(part.text) || part.provider_data !== undefined;
  return own && hasContent && shape.replays(part);
}

function assistantPart(part: AssistantPart, own: boolean): AssistantMessage['content'][number] {
  const options =
    own && part.provider_data !== undefined ? { providerOptions: asOptions(part.provider_data) } : {};
  // Signatures are over the very characters of a thought.
  if (part.type === 'reasoning') return { type: 'reasoning', text: part.text, ...options };
  if (part.type === 'text') return { type: 'text', text: wellFormed(part.text), ...options };
  return {
    type: 'tool-call',
    toolCallId: part.provider_call_id,
    toolName: part.tool,
    // Some wires take objects alone; what the model wrote instead is told by the call's result.
    input: isJsonObject(part.input) ? wellFormedValue(part.input) : {},
    ...options,
  };
}

/** Provider data is stored as it came, keyed by provider; the packages only check its shape when they use it. */
function asOptions(data: JsonObject): SharedV4ProviderOptions {
  return data as SharedV4ProviderOptions;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
