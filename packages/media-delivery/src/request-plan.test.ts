import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Attachment, ModelMessage } from '@agentd/contract';
import { decideDelivery, type Decision } from './request-plan.ts';
import { attachmentOf, modelOf } from './testing/models.ts';

const MIB = 1024 * 1024;

const step = (...attachments: readonly Attachment[]): ModelMessage => ({
  role: 'tool',
  content: [
    { type: 'tool_result', provider_call_id: 'c', tool: 'read', text: 'read', is_error: false, attachments },
  ],
});

const kindsOf = (decisions: readonly Decision[]): string[] => decisions.map(({ kind }) => kind);
const reasonOf = (decision: Decision | undefined): string =>
  decision?.kind === 'note' ? decision.reason : '';

describe('counts', () => {
  it('turns the oldest of a kind into notes, and counts each kind for itself [MED-6]', () => {
    const model = modelOf('google-vertex-gemini', {
      media: { image: { maxCount: 2 }, pdf: { maxCount: 1 } },
    });
    const pdf = { mime_type: 'application/pdf' };
    const history = [
      step(attachmentOf(1), attachmentOf(2, pdf)),
      step(attachmentOf(3)),
      step(attachmentOf(4), attachmentOf(5, pdf)),
    ];
    const decisions = decideDelivery(history, model, {});
    expect(kindsOf(decisions)).toEqual(['note', 'note', 'file', 'file', 'file']);
    expect(reasonOf(decisions[0])).toMatch(/newest 2 images; read the file again/);
    expect(reasonOf(decisions[1])).toMatch(/newest 1 PDFs/);
  });

  it('holds twenty where the model says nothing [MED-6] [MED-11]', () => {
    const history = Array.from({ length: 23 }, (_none, seed) => step(attachmentOf(seed)));
    const decisions = decideDelivery(history, modelOf('anthropic'), {});
    expect(kindsOf(decisions)).toEqual([...Array<string>(3).fill('note'), ...Array<string>(20).fill('file')]);
  });

  it('does not count what goes out as a note anyway [MED-6]', () => {
    const model = modelOf('anthropic', { media: { image: { maxCount: 1, maxBytes: 2000 } } });
    const history = [step(attachmentOf(1)), step(attachmentOf(2, { byte_length: 3000 }))];
    expect(kindsOf(decideDelivery(history, model, {}))).toEqual(['file', 'note']);
  });
});

describe('the request to the Gemini API', () => {
  const film = (seed: number, size: number): ModelMessage =>
    step(attachmentOf(seed, { mime_type: 'video/mp4', byte_length: size }));

  it('stays under 20 MiB of base64, the oldest media becoming notes [MED-11]', () => {
    const decisions = decideDelivery(
      [film(1, 1), film(2, 7 * MIB), film(3, 7 * MIB)],
      modelOf('google-gemini'),
      {},
    );
    expect(kindsOf(decisions)).toEqual(['file', 'file', 'file']);
    const crowded = decideDelivery(
      [film(1, 1), film(2, 8 * MIB), film(3, 7 * MIB)],
      modelOf('google-gemini'),
      {},
    );
    expect(kindsOf(crowded)).toEqual(['note', 'note', 'file']);
    expect(reasonOf(crowded[1])).toMatch(/20 MiB as base64; read the file again/);
  });

  it('counts the text and what else is in the request [MED-11]', () => {
    const text: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'x'.repeat(6 * MIB) }] };
    expect(kindsOf(decideDelivery([film(1, 11 * MIB), text], modelOf('google-gemini'), {}))).toEqual([
      'note',
    ]);
    expect(
      kindsOf(decideDelivery([film(1, 11 * MIB)], modelOf('google-gemini'), { reservedBytes: 6 * MIB })),
    ).toEqual(['note']);
    expect(kindsOf(decideDelivery([film(1, 11 * MIB)], modelOf('google-gemini'), {}))).toEqual(['file']);
  });

  it('is the only one with such a limit [MED-11]', () => {
    expect(
      kindsOf(decideDelivery([film(1, 20 * MIB), film(2, 20 * MIB)], modelOf('google-vertex-gemini'), {})),
    ).toEqual(['file', 'file']);
  });

  it('never passes its limit, and always sends the newest [MED-6] [MED-11]', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 14 * MIB }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const decisions = decideDelivery(
          lengths.map((size, seed) => film(seed, size)),
          modelOf('google-gemini'),
          {},
        );
        const sent = lengths.filter((_size, index) => decisions[index]?.kind === 'file');
        expect(sent.reduce((sum, size) => sum + 4 * Math.ceil(size / 3), 0)).toBeLessThan(20 * MIB);
        expect(kindsOf(decisions)).toEqual(kindsOf(decisions).toSorted((a, b) => b.localeCompare(a)));
        expect(decisions.at(-1)?.kind).toBe('file');
      }),
    );
  });
});

describe('what cannot go out', () => {
  it.each([
    [
      'a modality that the model lacks',
      modelOf('openai-chat', { input: ['text'] }),
      {},
      /lab\/omni-1 takes no images/,
    ],
    [
      'a kind that the family lacks',
      modelOf('cohere-v2-chat'),
      { mime_type: 'application/pdf' },
      /cohere-v2-chat of lab\/omni-1 carries no PDFs/,
    ],
    ['a size that the model lacks', modelOf('anthropic'), { byte_length: 8 * MIB }, /at most 7.5 MiB/],
    ['a type that nobody knows', modelOf('anthropic'), { mime_type: 'image/heic' }, /image\/heic is no kind/],
  ])('says why: %s [MED-2] [field I10]', (...[, model, more, reason]) => {
    expect(reasonOf(decideDelivery([step(attachmentOf(1, more))], model, {})[0])).toMatch(reason);
  });

  it('keeps a file back that the caller withholds, with the caller\u2019s reason (MED-9)', () => {
    const [bad, good] = [attachmentOf(1), attachmentOf(2)];
    const withheld = new Map([[bad.sha256, 'the provider refused it']]);
    const decisions = decideDelivery([step(bad, good)], modelOf('anthropic'), { withheld });
    expect(kindsOf(decisions)).toEqual(['note', 'file']);
    expect(reasonOf(decisions[0])).toBe('the provider refused it');
  });
});
