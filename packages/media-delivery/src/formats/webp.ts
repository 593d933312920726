import { shown, type ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import { imageSize, type MediaFacts } from './facts.ts';
import { nextChunk, riffBody, type RiffChunk } from './riff.ts';

const ANIMATED = 0x02;

/** RIFF sizes, the one bitstream or the frames, and that they agree with the canvas. */
export function walkWebp(bytes: Uint8Array): MediaFacts {
  const body = riffBody(bytes);
  if (body.left === 0) malformed('it has no image data');
  const first = nextChunk(body);
  if (first.id === 'VP8X') return walkExtended(first.data, body);
  const facts = bitstreamSize(first);
  if (facts === undefined) malformed(`its first chunk is "${shown(first.id)}" and no image`);
  if (body.left > 0) malformed(`a chunk follows the image at byte ${body.at} without an extended header`);
  return facts;
}

function walkExtended(header: ByteReader, body: ByteReader): MediaFacts {
  if (header.left !== 10) malformed(`its VP8X chunk has ${header.left} bytes instead of 10`);
  const flags = header.u8();
  header.skip(3);
  const canvas = imageSize(header.u24le() + 1, header.u24le() + 1);
  const isAnimated = (flags & ANIMATED) !== 0;
  const images = countImages(body, canvas, isAnimated);
  if (images === 0) malformed(isAnimated ? 'it is animated and has no frame' : 'it has no image data');
  if (images > 1 && !isAnimated) malformed(`it has ${images} images and does not say that it is animated`);
  return canvas;
}

function countImages(body: ByteReader, canvas: MediaFacts, isAnimated: boolean): number {
  let images = 0;
  let hasTiming = false;
  while (body.left > 0) {
    const chunk = nextChunk(body);
    if (chunk.id === 'ANIM') hasTiming = true;
    if (chunk.id === 'ANMF') {
      if (!isAnimated || !hasTiming) malformed('it has a frame and no animation header before it');
      walkFrame(chunk.data, canvas);
      images += 1;
    }
    const size = bitstreamSize(chunk);
    if (size === undefined) continue;
    if (isAnimated) malformed('it is animated and has an image outside its frames');
    expectSize(size, canvas, 'the canvas');
    images += 1;
  }
  return images;
}

function walkFrame(frame: ByteReader, canvas: MediaFacts): void {
  const [x, y] = [frame.u24le() * 2, frame.u24le() * 2];
  const size = imageSize(frame.u24le() + 1, frame.u24le() + 1);
  if (x + (size.width ?? 0) > (canvas.width ?? 0) || y + (size.height ?? 0) > (canvas.height ?? 0)) {
    malformed(`a frame at byte ${frame.at} reaches over the canvas`);
  }
  frame.skip(4);
  let images = 0;
  while (frame.left > 0) {
    const inner = bitstreamSize(nextChunk(frame));
    if (inner === undefined) continue;
    expectSize(inner, size, 'its frame');
    images += 1;
  }
  if (images !== 1) malformed(`a frame that ends at byte ${frame.end} holds ${images} images`);
}

function expectSize(size: MediaFacts, outer: MediaFacts, name: string): void {
  if (size.width === outer.width && size.height === outer.height) return;
  malformed(
    `an image of ${size.width}×${size.height} does not fill ${name} of ${outer.width}×${outer.height}`,
  );
}

/** The size of a VP8 or VP8L bitstream; undefined for any other chunk. */
function bitstreamSize({ id, data }: RiffChunk): MediaFacts | undefined {
  if (id === 'VP8 ') return lossySize(data);
  return id === 'VP8L' ? losslessSize(data) : undefined;
}

function lossySize(data: ByteReader): MediaFacts {
  const tag = data.u24le();
  if ((tag & 1) !== 0) malformed('its VP8 data does not begin with a key frame');
  if (data.u24be() !== 0x9d012a) malformed('its VP8 data has no start code');
  const size = imageSize(data.u16le() & 0x3fff, data.u16le() & 0x3fff);
  data.part = 'the first VP8 partition';
  data.skip(tag >> 5);
  return size;
}

function losslessSize(data: ByteReader): MediaFacts {
  if (data.u8() !== 0x2f) malformed('its VP8L data has no signature');
  const bits = data.u32le();
  if (bits >>> 29 !== 0) malformed('its VP8L data has an unknown version');
  return imageSize((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
}
