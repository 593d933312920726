import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hex, join, noise, zeros } from './testing/byte-parts.ts';
import { foreignSamples, mediaSamples, mp3Sample, oggSample } from './testing/index.ts';
import { memoryContent, sniffBytes } from './testing/verdict.ts';
import { HEAD_BYTES, sniff } from './sniff.ts';

const text = (content: string): Uint8Array => join(Buffer.from(content, 'utf8'));

describe('what bytes are', () => {
  it.each(mediaSamples())(
    'knows $title as $mimeType by its content alone [MED-1] [field A7] [field A25]',
    async ({ bytes, mimeType }) => {
      expect(await sniffBytes(bytes)).toMatchObject({ type: 'media', format: { mimeType } });
    },
  );

  it.each(foreignSamples())(
    'knows $title as $mimeType, which is no kind [MED-1] [field A9] [field A10] [field A25]',
    async ({ bytes, mimeType }) => {
      expect(await sniffBytes(bytes)).toEqual({ type: 'foreign', mimeType });
    },
  );

  it('names media that only the library knows, and trusts it with no kind of our own [MED-1]', async () => {
    expect(await sniffBytes(join('8BPS', hex('0001'), zeros(40)))).toEqual({
      type: 'foreign',
      mimeType: 'image/vnd.adobe.photoshop',
    });
    expect(await sniffBytes(join('PK\u0003\u0004', noise(100)))).toEqual({ type: 'other' });
  });

  it.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>\n'],
    ['TypeScript', 'export const a = 1\n'],
    ['TypeScript that begins like a transport stream', 'Get();\n'.padEnd(188 * 5, 'G')],
    ['XML under an audio extension', '<AdapterType/>\n'],
    ['HTML that was served as image/png', '<!doctype html><p>Not found'],
    ['a sentence that begins with a signature', 'GIF89a is a format\n'],
    ['a sentence that begins like a bitmap', 'BMW makes cars\n'],
    ['a sentence that begins like a tag', 'ID3 tags hold titles\n'],
    ['a sentence that begins like RIFF', 'RIFF????WAVE is how it looks\n'],
    ['a character that is cut at the end of the page', '测'.repeat(HEAD_BYTES)],
  ])(
    'takes text for text: %s [MED-1] [field A8] [field A10] [field A11] [field D20]',
    async (_what, content) => {
      expect(await sniffBytes(text(content))).toEqual({ type: 'other' });
    },
  );

  it('takes UTF-16 text, nothing at all and a lone zero for no medium [MED-1]', async () => {
    for (const bytes of [
      hex('fffe 6800 6900 0a00'),
      hex('feff 0068 0069'),
      zeros(0),
      zeros(1),
      zeros(5000),
    ]) {
      expect(await sniffBytes(bytes)).toEqual({ type: 'other' });
    }
  });

  it('knows a PDF that is text all through [MED-1]', async () => {
    expect(await sniffBytes(text('%PDF-1.4\n1 0 obj\n'))).toMatchObject({
      format: { mimeType: 'application/pdf' },
    });
  });

  it('wants three frames that agree before it calls bytes MP3 [MED-1] [field A14]', async () => {
    const frame = join(hex('fffb 9064'), zeros(413));
    expect(await sniffBytes(join(frame, frame, frame))).toMatchObject({ format: { mimeType: 'audio/mpeg' } });
    expect(await sniffBytes(join(frame, frame))).toEqual({ type: 'other' });
    for (let seed = 1; seed <= 50; seed += 1) {
      expect(await sniffBytes(join(hex('fffb'), noise(1251, seed)))).not.toMatchObject({ type: 'media' });
    }
  });

  it('looks behind a tag of any length, and reads no more than it must [MED-1]', async () => {
    const picture = 3 * 1024 * 1024;
    const size = [picture >> 21, picture >> 14, picture >> 7, picture].map((byte) => byte & 0x7f);
    const tag = join('ID3', hex('03 00 00'), Uint8Array.from(size), noise(picture));
    const content = memoryContent(join(tag, mp3Sample()));
    expect(await sniff(content, new AbortController().signal)).toMatchObject({
      format: { mimeType: 'audio/mpeg' },
    });
    expect(content.reads()).toBeLessThanOrEqual(2 * HEAD_BYTES);
    const flac = await sniffBytes(join('ID3', hex('04 00 00 00 00 00 01 00'), 'fLaC', zeros(40)));
    expect(flac).toMatchObject({ format: { mimeType: 'audio/flac' } });
  });

  it('calls an unknown brand and an unknown DocType by their names [MED-1]', async () => {
    const brand = join(hex('00000014'), 'ftypzzzz', zeros(4), 'zzzz', zeros(9));
    expect(await sniffBytes(brand)).toEqual({ type: 'foreign', mimeType: 'a file of brand "zzzz"' });
    const ebml = join(hex('1a45dfa3 87 4282 84'), 'what', zeros(9));
    expect(await sniffBytes(ebml)).toEqual({ type: 'foreign', mimeType: 'EBML of type "what"' });
  });

  it('knows a film in Ogg even where it is the second stream [MED-1]', async () => {
    const sound = oggSample();
    const opening = sound.subarray(0, 27 + 1 + 19);
    expect(await sniffBytes(join(opening, oggSample({ first: '\u0080theora' })))).toEqual({
      type: 'foreign',
      mimeType: 'video/ogg',
    });
  });

  it('has an answer for any beginning, and never fails [MED-1]', async () => {
    const heads = [...mediaSamples(), ...foreignSamples()].map(({ bytes }) => bytes.subarray(0, 64));
    const damage = fc.array(fc.tuple(fc.nat(63), fc.nat(255)), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...heads),
        damage,
        fc.uint8Array({ maxLength: 300 }),
        async (head, edits, rest) => {
          const bytes = join(head, rest);
          for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
          expect(['media', 'foreign', 'other']).toContain((await sniffBytes(bytes)).type);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
