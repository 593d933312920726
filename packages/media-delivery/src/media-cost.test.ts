import { describe, expect, it } from '@jest/globals';
import type { ModelMessage } from '@agentd/contract';
import { mediaTokens, withoutAttachments } from './media-cost.ts';
import { mediaPlacer } from './placement.ts';
import { attachmentOf, modelOf } from './testing/models.ts';

describe('what media costs', () => {
  it('adds nothing for images, PDF and sound, and 40,000 tokens for each film [MED-7]', () => {
    const ofTypes = (...types: readonly string[]) => types.map((mime_type) => ({ mime_type }));
    expect(mediaTokens(ofTypes('image/png', 'application/pdf', 'audio/mpeg'))).toBe(0);
    expect(mediaTokens(ofTypes('video/mp4', 'image/png', 'video/x-matroska'))).toBe(80_000);
    expect(mediaTokens([])).toBe(0);
  });
});

describe('a checkpoint', () => {
  const history: readonly ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'look' }], attachments: [attachmentOf(1)] },
    { role: 'assistant', model: 'lab/omni-1', content: [{ type: 'text', text: 'I do' }] },
    {
      role: 'tool',
      content: [
        {
          type: 'tool_result',
          provider_call_id: 'c',
          tool: 'read',
          text: 'read it',
          is_error: false,
          attachments: [attachmentOf(2)],
        },
      ],
    },
  ];

  it('drops attachments and nothing else (MED-9)', () => {
    expect(withoutAttachments(history)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'look' }] },
      history[1],
      {
        role: 'tool',
        content: [
          { type: 'tool_result', provider_call_id: 'c', tool: 'read', text: 'read it', is_error: false },
        ],
      },
    ]);
  });

  it('takes with a result the user turn that would have carried its files (MED-9)', () => {
    const model = modelOf('openai-chat');
    expect(mediaPlacer.place(history, model)).toHaveLength(4);
    expect(mediaPlacer.place(withoutAttachments(history), model)).toHaveLength(3);
  });
});
