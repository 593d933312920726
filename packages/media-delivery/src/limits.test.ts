import { describe, expect, it } from '@jest/globals';
import type { MediaKind } from '@agentd/contract';
import { COMMON_LIMITS, maxBytesOf, maxCountOf, sizeText } from './limits.ts';
import { ATTACHMENT_BUDGET, FAMILY_LIMITS } from './index.ts';
import { modelOf } from './testing/models.ts';

const KINDS: readonly MediaKind[] = ['image', 'pdf', 'audio', 'video'];
const limitsOf = (family: string): number[] => KINDS.map((kind) => maxBytesOf(modelOf(family), kind));

describe('limits', () => {
  it.each([
    ['anthropic', [7_864_320, 20_971_520, 20_971_520, 26_214_400]],
    ['anthropic-compatible', [7_864_320, 20_971_520, 20_971_520, 26_214_400]],
    ['aws-bedrock-converse', [3_932_160, 4_718_592, 20_971_520, 19_660_797]],
    ['google-vertex-gemini', [7_340_032, 20_971_520, 20_971_520, 26_214_400]],
    ['google-gemini', [14_680_064, 14_680_064, 14_680_064, 14_680_064]],
    ['openai-responses', [20_971_520, 20_971_520, 20_971_520, 26_214_400]],
    ['openai-chat', [20_971_520, 20_971_520, 20_971_520, 26_214_400]],
    ['cohere-v2-chat', [20_971_520, 20_971_520, 20_971_520, 26_214_400]],
    ['constructor', [20_971_520, 20_971_520, 20_971_520, 26_214_400]],
  ])(
    'gives %s the inline limits of its provider for image, PDF, audio and video [MED-4]',
    (family, bytes) => {
      expect(limitsOf(family)).toEqual(bytes);
    },
  );

  it('takes the smaller of what the model and its family say [MED-4]', () => {
    const model = modelOf('anthropic', {
      media: { image: { maxBytes: 1000 }, pdf: { maxBytes: 99_999_999 } },
    });
    expect(maxBytesOf(model, 'image')).toBe(1000);
    expect(maxBytesOf(model, 'pdf')).toBe(20_971_520);
  });

  it('turns a limit in base64 into raw bytes [MED-4] [field I7]', () => {
    const model = modelOf('openai-chat', { media: { image: { maxBase64Bytes: 5_242_880 } } });
    expect(maxBytesOf(model, 'image')).toBe(3_932_160);
    expect(4 * Math.ceil(maxBytesOf(model, 'image') / 3)).toBeLessThanOrEqual(5_242_880);
  });

  it('counts twenty files of a kind where the model says nothing [MED-11]', () => {
    expect(maxCountOf(modelOf('anthropic'), 'image')).toBe(20);
    expect(maxCountOf(modelOf('anthropic', { media: { image: { maxCount: 3 } } }), 'image')).toBe(3);
  });

  it('leaves room in one result for any file that a family takes [MED-10]', () => {
    const all = [COMMON_LIMITS, ...Object.values(FAMILY_LIMITS)].flatMap((row) =>
      KINDS.map((kind) => row[kind] ?? 0),
    );
    expect(Math.max(...all)).toBeLessThanOrEqual(ATTACHMENT_BUDGET.maxBytes);
  });

  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1536, '1.5 KiB (1536 bytes)'],
    [7_864_321, '7.5 MiB (7864321 bytes)'],
  ])('writes %d as %s [MED-4]', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
