import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Attachment, ModelMessage, PlacedMessage, PlacedPart, ToolResultPart } from '@agentd/contract';
import { DELIVERY_MATRIX } from './delivery-matrix.ts';
import { MEDIA_FORMATS } from './media-formats.ts';
import { mediaPlacer } from './placement.ts';
import { attachmentOf, modelOf } from './testing/models.ts';

const result = (id: string, ...attachments: readonly Attachment[]): ToolResultPart => ({
  type: 'tool_result',
  provider_call_id: id,
  tool: 'read',
  text: `result of ${id}`,
  is_error: false,
  ...(attachments.length === 0 ? {} : { attachments }),
});

const step = (...content: readonly ToolResultPart[]): ModelMessage => ({ role: 'tool', content });
const say = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

const partsOf = (message: PlacedMessage | undefined): readonly PlacedPart[] => {
  if (message?.role === 'user') return message.content;
  return message?.role === 'tool' ? message.content.flatMap(({ media }) => media) : [];
};
const digestsOf = (message: PlacedMessage | undefined): string[] =>
  partsOf(message).flatMap((part) => (part.type === 'file' ? part.attachment.sha256 : []));
const textsOf = (message: PlacedMessage | undefined): string[] =>
  partsOf(message).flatMap((part) => (part.type === 'text' ? part.text : []));

const [image, second] = [attachmentOf(1, { filename: 'shot.png' }), attachmentOf(2)];
const pdf = attachmentOf(3, { filename: 'paper.pdf', mime_type: 'application/pdf', byte_length: 2_000_000 });
const film = attachmentOf(4, { filename: 'clip.mp4', mime_type: 'video/mp4' });
const sound = attachmentOf(5, { filename: 'tune.mp3', mime_type: 'audio/mpeg' });

describe('a family that takes media in tool results', () => {
  it('gets them there, behind the text of their own call (DEL-1, DEL-4) [MED-5] [field I16]', () => {
    for (const family of [
      'anthropic',
      'openai-responses',
      'azure-openai-responses',
      'aws-bedrock-converse',
    ]) {
      const placed = mediaPlacer.place(
        [step(result('a', image), result('b'), result('c', pdf))],
        modelOf(family),
      );
      expect(placed).toEqual([
        {
          role: 'tool',
          content: [
            {
              ...result('a'),
              media: [{ type: 'file', attachment: image, filename: '000000000001-shot.png' }],
            },
            { ...result('b'), media: [] },
            {
              ...result('c'),
              media: [{ type: 'file', attachment: pdf, filename: '000000000003-paper.pdf' }],
            },
          ],
        },
      ]);
    }
  });
});

describe('a family that takes media in user turns', () => {
  it('gets one turn for the whole step, after its results and in call order (DEL-5, DEL-7, DEL-8) [MED-5] [field I16]', () => {
    for (const family of ['openai-chat', 'openai-compatible', 'google-gemini', 'google-vertex-gemini']) {
      const history = [
        say('look'),
        step(result('a', image, pdf), result('b'), result('c', second)),
        say('and?'),
      ];
      const placed = mediaPlacer.place(history, modelOf(family));
      expect(placed.map(({ role }) => role)).toEqual(['user', 'tool', 'user', 'user']);
      expect(digestsOf(placed[1])).toEqual([]);
      expect(textsOf(placed[1])).toEqual([
        '["shot.png" (image/png, 1000 bytes) follows in the next user turn]',
        '["paper.pdf" (application/pdf, 1.91 MiB) follows in the next user turn]',
        '["file 2.png" (image/png, 1000 bytes) follows in the next user turn]',
      ]);
      expect(digestsOf(placed[2])).toEqual([image, pdf, second].map(({ sha256 }) => sha256));
      expect(textsOf(placed[2])[1]).toBe('"shot.png" (image/png, 1000 bytes) from read:');
      expect(placed[3]).toEqual(say('and?'));
    }
  });

  it('gets none for a step without files [MED-5]', () => {
    expect(mediaPlacer.place([step(result('a'), result('b'))], modelOf('openai-chat'))).toHaveLength(1);
  });

  it('gets a turn beside the results where only one kind goes there (DEL-2, DEL-3) [MED-5]', () => {
    const history = [step(result('a', film), result('b', image))];
    const minimax = mediaPlacer.place(history, modelOf('anthropic-compatible', { id: 'house/minimax-m3' }));
    expect(digestsOf(minimax[0])).toEqual([image.sha256]);
    expect(digestsOf(minimax[1])).toEqual([film.sha256]);
    const nova = mediaPlacer.place(history, modelOf('aws-bedrock-converse', { id: 'bedrock/nova' }));
    expect(nova).toHaveLength(1);
    expect(digestsOf(nova[0])).toEqual([film.sha256, image.sha256]);
  });
});

describe('a history and another model', () => {
  const history: readonly ModelMessage[] = [
    { role: 'user', content: [], attachments: [image] },
    { role: 'assistant', model: 'lab/omni-1', content: [{ type: 'text', text: 'nice' }] },
    step(result('a', second, pdf), result('b', sound)),
    say('go on'),
  ];

  it('gives a model of text a note with name, type and size for each file, in its place [MED-2] [field I10]', () => {
    const before = structuredClone(history);
    const placed = mediaPlacer.place(history, modelOf('anthropic', { id: 'lab/text-1', input: ['text'] }));
    expect(placed.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(textsOf(placed[0])).toEqual([
      '["shot.png" (image/png, 1000 bytes) is not sent: lab/text-1 takes no images]',
    ]);
    expect(textsOf(placed[2])).toEqual([
      '["file 2.png" (image/png, 1000 bytes) is not sent: lab/text-1 takes no images]',
      '["paper.pdf" (application/pdf, 1.91 MiB) is not sent: lab/text-1 takes no PDFs]',
      '["tune.mp3" (audio/mpeg, 1000 bytes) is not sent: lab/text-1 takes no audio]',
    ]);
    expect(history).toEqual(before);
  });

  it('sends everything again to a model that takes it [MED-2] [field I10]', () => {
    const placed = mediaPlacer.place(history, modelOf('google-gemini'));
    expect(placed.flatMap(digestsOf)).toEqual([image, second, pdf, sound].map(({ sha256 }) => sha256));
  });

  it('never changes a name because an older file became a note [MED-5] [MED-6]', () => {
    const twice = [step(result('a', image)), step(result('b', image))];
    const one = mediaPlacer.place(twice, modelOf('anthropic', { media: { image: { maxCount: 1 } } }));
    const both = mediaPlacer.place(twice, modelOf('anthropic'));
    expect(partsOf(one[1])).toEqual(partsOf(both[1]));
    expect(partsOf(one[1])).toEqual([
      { type: 'file', attachment: image, filename: '000000000001-2-shot.png' },
    ]);
  });
});

describe('any history and any family', () => {
  const anyFile = fc.record({
    seed: fc.nat(30),
    format: fc.constantFrom(...MEDIA_FORMATS),
    size: fc.nat(30_000_000),
  });
  const anyResult = fc.array(anyFile, { maxLength: 4 });
  const anyHistory = fc.array(fc.array(anyResult, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
  const families = DELIVERY_MATRIX.flatMap(({ families }) => families);

  it('places each file once or notes it, and never as text [MED-5] [field I16]', () => {
    fc.assert(
      fc.property(anyHistory, fc.constantFrom(...families, 'unknown'), (steps, family) => {
        const history = steps.map((calls) =>
          step(
            ...calls.map((files, call) =>
              result(
                `c${call}`,
                ...files.map(({ seed, format, size }) =>
                  attachmentOf(seed, { mime_type: format.mimeType, byte_length: size }),
                ),
              ),
            ),
          ),
        );
        const placed = mediaPlacer.place(history, modelOf(family));
        const parts = placed.flatMap(partsOf);
        const files = parts.flatMap((part) => (part.type === 'file' ? part.filename : []));
        const notes = parts.filter((part) => part.type === 'text' && part.text.includes('is not sent'));
        expect(files.length + notes.length).toBe(steps.flat(2).length);
        expect(new Set(files).size).toBe(files.length);
        for (const name of files) expect(name).toMatch(/^[A-Za-z0-9-]+\.[a-z0-9]+$/);
        for (const part of parts) if (part.type === 'text') expect(part.text.length).toBeLessThan(1024);
        for (const [at, { role }] of placed.entries())
          if (role === 'user') expect(placed[at - 1]?.role).toBe('tool');
      }),
    );
  });
});
