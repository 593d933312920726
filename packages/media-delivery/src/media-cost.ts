import type { Attachment, ModelMessage } from '@agentd/contract';
import { VIDEO_TOKENS } from './limits.ts';
import { formatOf } from './media-formats.ts';

/** Tokens that attachments add to an estimate of context: a flat guess for each film, nothing for the rest (MED-7). */
export function mediaTokens(attachments: readonly Pick<Attachment, 'mime_type'>[]): number {
  return attachments.filter(({ mime_type }) => formatOf(mime_type)?.kind === 'video').length * VIDEO_TOKENS;
}

/** A history without its files, for a compaction checkpoint (MED-9). Nothing else changes. */
export function withoutAttachments(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message) => {
    if (message.role === 'assistant') return message;
    if (message.role === 'user') {
      const { attachments: _dropped, ...rest } = message;
      return rest;
    }
    return {
      ...message,
      content: message.content.map(({ attachments: _dropped, ...result }) => result),
    };
  });
}
