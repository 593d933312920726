import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { toolError, type AdmittedMedia, type MediaBytes, type ModelInfo } from '@agentd/contract';
import { createMediaGate } from './media-gate.ts';
import { join, noise, zeros } from './testing/byte-parts.ts';
import {
  foreignSamples,
  gifSample,
  isoSample,
  jpegSample,
  mediaSamples,
  mp3Sample,
  pdfSample,
  pngClaim,
  pngSample,
  webpClaim,
} from './testing/index.ts';
import { modelOf } from './testing/models.ts';
import { memoryContent } from './testing/verdict.ts';

const MIB = 1024 * 1024;
const { signal } = new AbortController();
const gate = createMediaGate();

const admit = (
  content: Uint8Array | MediaBytes,
  model: ModelInfo | null,
  name: string | null = 'shots/x.png',
): Promise<AdmittedMedia | null> => gate.admit({ content, name, model }, signal);

const refused = (code: string, ...patterns: readonly RegExp[]): object => ({
  code,
  message: expect.stringMatching(new RegExp(patterns.map(({ source }) => `(?=.*${source})`).join(''), 's')),
});

const anyone = modelOf('google-gemini');

describe('what passes', () => {
  it.each(mediaSamples())(
    'admits $title with its type, size and digest [MED-1] [field A7] [field A25]',
    async ({ bytes, mimeType }) => {
      expect(await admit(bytes, anyone, 'any/name.txt')).toEqual({
        kind: mimeType === 'application/pdf' ? 'pdf' : mimeType.split('/')[0],
        record: {
          mime_type: mimeType,
          byte_length: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
          filename: 'name.txt',
        },
        bytes,
        place: 'user_turn',
      });
    },
  );

  it('goes by the content under any name, image bytes under a foreign one as well [MED-1] [field A7]', async () => {
    expect(await admit(jpegSample(), anyone, 'x.png')).toMatchObject({ record: { mime_type: 'image/jpeg' } });
    expect(await admit(gifSample(), anyone, 'x.jpg')).toMatchObject({ record: { mime_type: 'image/gif' } });
    expect(await admit(mp3Sample(), anyone, 'song.bin')).toMatchObject({
      record: { mime_type: 'audio/mpeg' },
    });
  });

  it('takes bytes that name no type, as a blob of an MCP server may (MED-8)', async () => {
    expect(await admit(pdfSample(), anyone, null)).toMatchObject({
      record: { mime_type: 'application/pdf', filename: null },
    });
  });

  it('has nothing to say to text and unknown bytes [MED-1] [field A8] [field D20]', async () => {
    for (const content of [join('<svg/>'), zeros(0), join('PK\u0003\u0004', noise(99))]) {
      expect(await admit(content, modelOf('cohere-v2-chat', { input: ['text'] }), 'f.png')).toBeNull();
    }
  });

  it('attaches every valid file to a call that no model made, up to what a result carries [MED-2] [MED-10]', async () => {
    expect(await admit(isoSample(), null)).toMatchObject({ kind: 'video', place: null });
    const large = pngSample({ filler: noise(32 * MIB) });
    await expect(admit(large, null)).rejects.toMatchObject(
      refused('media_too_large', /32 MiB \(33554\d+ bytes\)/, /at most 32 MiB/),
    );
  });
});

describe('what is refused, and in which order', () => {
  it('asks the model first [MED-2]', async () => {
    const model = modelOf('azure-openai-chat', {
      id: 'azure/plain',
      input: ['text', 'audio'],
      media: { image: { maxBytes: 1 } },
    });
    await expect(admit(pngSample().subarray(0, 60), model)).rejects.toMatchObject(
      refused(
        'media_unsupported',
        /"shots\/x\.png" \(image\/png, 60 bytes\)/,
        /azure\/plain/,
        /"image"/,
        /text, audio/,
      ),
    );
  });

  it('then the family [MED-3]', async () => {
    const model = modelOf('azure-openai-chat', { id: 'azure/all', media: { pdf: { maxBytes: 1 } } });
    await expect(admit(pdfSample().subarray(0, 90), model, 'a.pdf')).rejects.toMatchObject(
      refused('media_undeliverable', /a\.pdf/, /azure-openai-chat/, /azure\/all/, /PDFs/),
    );
    await expect(admit(isoSample(), modelOf('openai-compatible'), 'a.mp4')).rejects.toMatchObject(
      refused('media_undeliverable', /openai-compatible/, /except on Kimi and Qwen models/),
    );
    await expect(admit(pngSample(), modelOf('homemade'))).rejects.toMatchObject(
      refused('media_undeliverable', /homemade/),
    );
  });

  it('then the size, with both sizes and without reading the file [MED-4]', async () => {
    const content = memoryContent(pngSample({ filler: noise(8 * MIB) }).subarray(0, 8 * MIB));
    await expect(admit(content, modelOf('anthropic', { id: 'anthropic/opus' }))).rejects.toMatchObject(
      refused(
        'media_too_large',
        /has 8 MiB \(8388608 bytes\)/,
        /anthropic\/opus \(family anthropic\)/,
        /at most 7\.5 MiB \(7864320 bytes\)/,
      ),
    );
    expect(content.reads()).toBeLessThanOrEqual(64 * 1024);
  });

  it('and at last what is inside [MED-1]', async () => {
    await expect(admit(pngSample().subarray(0, 60), anyone)).rejects.toMatchObject(
      refused('media_invalid', /shots\/x\.png/, /no complete PNG file/, /cut off/),
    );
  });

  it.each([
    [3_800_000, { maxBase64Bytes: 5_242_880 }, true],
    [4_200_000, { maxBase64Bytes: 5_242_880 }, false],
    [4_200_000, { maxBytes: 5_242_880 }, true],
    [5_300_000, { maxBytes: 5_242_880 }, false],
  ])('holds an image of %d bytes against %j [MED-4] [field I7]', async (size, image, passes) => {
    const bytes = pngSample({ filler: noise(size - 89) });
    const admission = admit(bytes, modelOf('openai-responses', { media: { image } }));
    if (passes) expect(await admission).toMatchObject({ place: 'tool_result' });
    else
      await expect(admission).rejects.toMatchObject(
        refused('media_too_large', new RegExp(`${bytes.length} bytes`), /at most \d[\d.]* MiB/),
      );
  });

  it.each(foreignSamples())(
    'never attaches $title, and names it and the kinds [MED-1] [field A9] [field A10] [field A25]',
    async ({ bytes, mimeType }) => {
      for (const name of ['IMG.heic', 'IMG.bin', 'v.ts']) {
        await expect(admit(bytes, anyone, name)).rejects.toMatchObject(
          refused(
            'media_invalid',
            new RegExp(name.replace('.', '\\.')),
            new RegExp(mimeType.replace(/[/.]/g, '.')),
            /PNG, JPEG, GIF, WebP/,
            /MP3, WAV, Ogg, FLAC/,
            /3GPP/,
          ),
        );
      }
    },
  );

  it('refuses an encrypted PDF by that word [MED-1] [field A16]', async () => {
    await expect(admit(pdfSample({ isEncrypted: true }), anyone, 'enc.pdf')).rejects.toMatchObject(
      refused('media_invalid', /encrypted/),
    );
  });

  it.each([
    ['a bomb', pngClaim(50_000, 50_000), /50000×50000/],
    ['a very wide PNG', pngClaim(16_385, 10), /16385×10/],
    [
      'a GIF of too many pixels',
      gifSample({ width: 16_000, height: 16_000 }),
      /16000×16000 = 256000000 pixels; 67108864/,
    ],
    ['a WebP of too many pixels', webpClaim(16_000, 5000), /16000×5000/],
    ['a JPEG of too many pixels', jpegSample({ width: 16_000, height: 5000 }), /16000×5000/],
  ])('refuses %s from its header, with the numbers [MED-1] [field I9]', async (_what, bytes, numbers) => {
    const before = process.memoryUsage().arrayBuffers;
    await expect(admit(bytes, anyone)).rejects.toMatchObject(refused('media_too_large', numbers));
    // Pixels would be there; resident memory would tell what the machine and other tests do.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 * MIB);
  });

  it('takes a wide and low image [MED-1] [field I9]', async () => {
    expect(await admit(pngSample({ width: 9000, height: 10 }), anyone)).toMatchObject({ kind: 'image' });
  });

  it('counts pages and size of a PDF, and says how to get at the pages [MED-4] [MED-11] [field I17]', async () => {
    const model = modelOf('openai-responses', { media: { pdf: { maxBytes: 32 * MIB } } });
    await expect(admit(pdfSample({ pages: 150 }), model, 'long.pdf')).rejects.toMatchObject(
      refused('media_too_large', /150 pages/, /at most 100/, /bash/, /qpdf/),
    );
    const heavy = pdfSample({ filler: zeros(33 * MIB) });
    await expect(admit(heavy, model, 'heavy.pdf')).rejects.toMatchObject(
      refused('media_too_large', /33 MiB/, /20 MiB/),
    );
    const fine = pdfSample({ pages: 100, filler: noise(4_600_000) });
    expect(await admit(fine, model, 'fine.pdf')).toMatchObject({ kind: 'pdf', place: 'tool_result' });
    const strict = createMediaGate({ maxPdfPages: 2 });
    await expect(
      strict.admit({ content: pdfSample({ pages: 3 }), name: 'p.pdf', model }, signal),
    ).rejects.toMatchObject(refused('media_too_large', /3 pages/, /at most 2/));
  });

  it('notices a file that became shorter under its hands [MED-1]', async () => {
    const bytes = pngSample();
    const shrinking = { ...memoryContent(bytes), byteLength: bytes.length + 1 };
    await expect(admit(shrinking, anyone)).rejects.toMatchObject({ code: 'stale' });
  });

  it('lets a fault of reading and an abort through as they are [MED-1]', async () => {
    const broken: MediaBytes = {
      byteLength: 9,
      read: () => Promise.reject(toolError('execution_failed', 'the disk is gone')),
    };
    await expect(admit(broken, anyone)).rejects.toMatchObject({ code: 'execution_failed' });
  });

  it('shows a hostile name harmlessly [MED-1]', async () => {
    const name = `a/${'x'.repeat(5000)}\u001b[31m\n\ud800.png`;
    const error: unknown = await admit(pngSample().subarray(0, 50), anyone, name).catch(
      (thrown: unknown) => thrown,
    );
    const { message } = error as { message: string };
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.isWellFormed()).toBe(true);
    expect(message.length).toBeLessThan(800);
    const admitted = await admit(pngSample(), anyone, name);
    expect(Buffer.byteLength(admitted?.record.filename ?? '')).toBeLessThanOrEqual(255);
  });
});
