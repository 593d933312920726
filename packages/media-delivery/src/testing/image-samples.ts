import { crc32, deflateSync } from 'node:zlib';
import { repeat, base64, be, hex, join, le, zeros, type Part } from './byte-parts.ts';

const PNG_SIGNATURE = '\u0089PNG\r\n\u001a\n';

export function pngChunk(type: string, data: Part): Uint8Array {
  const body = join(type, data);
  return join(be(body.length - 4, 4), body, be(crc32(body), 4));
}

const pngHeader = (width: number, height: number): Uint8Array =>
  pngChunk('IHDR', join(be(width, 4), be(height, 4), hex('08 00 00 00 00')));

/** A grey PNG; `filler` makes it as large as wanted, by a chunk that nobody shows. */
export function pngSample({
  width = 2,
  height = 2,
  filler = zeros(0),
}: { readonly width?: number; readonly height?: number; readonly filler?: Uint8Array } = {}): Uint8Array {
  const rows = deflateSync(new Uint8Array((width + 1) * height));
  const text = filler.length === 0 ? '' : pngChunk('fiLl', filler);
  return join(PNG_SIGNATURE, pngHeader(width, height), text, pngChunk('IDAT', rows), pngChunk('IEND', ''));
}

/** A header that claims a size, and next to nothing behind it: what a bomb is made of. */
export const pngClaim = (width: number, height: number): Uint8Array =>
  join(
    PNG_SIGNATURE,
    pngHeader(width, height),
    pngChunk('IDAT', hex('789c 0300 0000 0001')),
    pngChunk('IEND', ''),
  );

/** A grey JPEG of 8×8 pixels: each of its tables has one code, and its only block is flat; `scan` is what is coded. */
export function jpegSample({ width = 8, height = 8, scan = hex('3f') } = {}): Uint8Array {
  const segment = (marker: string, data: Uint8Array): Uint8Array =>
    join(hex(marker), be(data.length + 2, 2), data);
  const table = (id: string): Uint8Array => segment('ffc4', join(hex(id), hex('01'), zeros(15), hex('00')));
  return join(
    hex('ffd8'),
    segment('ffe0', join('JFIF\0', hex('0101 00 0001 0001 0000'))),
    segment('ffdb', join(hex('00'), new Uint8Array(64).fill(1))),
    segment('ffc0', join(hex('08'), be(height, 2), be(width, 2), hex('01 01 11 00'))),
    table('00'),
    table('10'),
    segment('ffda', hex('01 01 00 00 3f 00')),
    scan,
    hex('ffd9'),
  );
}

/** A GIF with a frame of one pixel, repeated. */
export function gifSample({ frames = 1, width = 1, height = 1 } = {}): Uint8Array {
  const frame = hex('21f904 01 0a00 00 00 2c 0000 0000 0100 0100 00 02 02 4401 00');
  const size = join(le(width, 2), le(height, 2));
  return join('GIF89a', size, hex('80 00 00 000000 ffffff'), repeat(frame, frames), ';');
}

const riff = (form: string, ...chunks: readonly Uint8Array[]): Uint8Array => {
  const body = join(form, ...chunks);
  return join('RIFF', le(body.length, 4), body);
};

const chunk = (id: string, data: Uint8Array): Uint8Array =>
  join(id, le(data.length, 4), data, zeros(data.length % 2));

/** Bitstreams of one pixel, as real coders made them. */
const VP8 = base64('MAEAnQEqAQABAA7A/iWkAANwAAAAAA==');
const VP8L = base64('LwAAABAHEBERiIj+Bw==');

const vp8x = (flags: number, [width, height]: readonly [number, number]): Uint8Array =>
  chunk('VP8X', join(be(flags, 1), zeros(3), le(width - 1, 3), le(height - 1, 3)));

export const webpSample = (filler = zeros(0)): Uint8Array => riff('WEBP', chunk('VP8 ', join(VP8, filler)));
export const webpLosslessSample = (): Uint8Array => riff('WEBP', chunk('VP8L', VP8L));
export const webpExtendedSample = (): Uint8Array => riff('WEBP', vp8x(0x10, [1, 1]), chunk('VP8L', VP8L));
export const webpClaim = (width: number, height: number): Uint8Array =>
  riff('WEBP', vp8x(0, [width, height]), chunk('VP8L', VP8L));

/** Two frames of one pixel. */
export function webpAnimatedSample(): Uint8Array {
  const frame = chunk('ANMF', join(zeros(12), le(100, 3), zeros(1), chunk('VP8L', VP8L)));
  return riff('WEBP', vp8x(0x02, [1, 1]), chunk('ANIM', hex('ffffffff 0000')), frame, frame);
}
