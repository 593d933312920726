import {
  isJsonObject,
  unreachable,
  type Attachment,
  type ModelMessage,
  type ModelRequest,
} from '@agentd/contract';

const BYTES_OF_A_TOKEN = 4;

/** What the frame around a piece of a message takes. */
const FRAME_TOKENS = 4;

/** A film is costly and nobody knows how costly before it was sent (MED-7). */
export const VIDEO_TOKENS = 40_000;

/** Tokens of a text: a guess that needs no tokenizer and errs little on prose and code. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_OF_A_TOKEN);
}

/** The bytes of text that so many tokens stand for. */
export function bytesOf(tokens: number): number {
  return Math.max(0, Math.floor(tokens)) * BYTES_OF_A_TOKEN;
}

/** Media adds nothing, but a video its flat cost (MED-7). */
export function mediaTokens(files: readonly Pick<Attachment, 'mime_type'>[] = []): number {
  return files.filter(isVideo).length * VIDEO_TOKENS;
}

/** What a damaged log has of a file may lack its type. */
function isVideo(file: unknown): boolean {
  return (
    isJsonObject(file) && typeof file['mime_type'] === 'string' && file['mime_type'].startsWith('video/')
  );
}

/** Tokens of one message. Signatures and other opaque data of providers are not counted. */
export function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce(
        (sum, part) => sum + FRAME_TOKENS + textTokens(part.text),
        mediaTokens(message.attachments),
      );
    case 'assistant':
      return message.content.reduce((sum, part) => {
        const text = part.type === 'tool_call' ? part.tool + JSON.stringify(part.input) : part.text;
        return sum + FRAME_TOKENS + textTokens(text);
      }, 0);
    case 'tool':
      return message.content.reduce(
        (sum, { text, attachments }) => sum + FRAME_TOKENS + textTokens(text) + mediaTokens(attachments),
        0,
      );
    default:
      return unreachable(message);
  }
}

export function messagesTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** What every request of a run carries beside its messages. */
export function fixedTokens({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): number {
  return textTokens(system) + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)));
}

export interface SizeParts {
  /** Estimates: of the whole history, and of what came after the newest turn. */
  readonly history: { readonly tokens: number; readonly newTokens: number };
  readonly fixed: number;
  /** As a provider counted the newest turn, and what was taken out of it since. */
  readonly counted: { readonly reported: number | null; readonly saved: number };
}

/**
 * Tokens of the next request: what the provider counted for the last one, less what was taken out since, and an
 * estimate of what is new. A count below half of our own estimate is not believed: some servers leave out what their
 * cache served, some send a constant.
 */
export function contextSize({ history, fixed, counted: { reported, saved } }: SizeParts): number {
  const own = history.tokens + fixed;
  const ownThen = own - history.newTokens + saved;
  if (reported === null || reported * 2 < ownThen) return own;
  return Math.max(0, reported - saved) + history.newTokens;
}
