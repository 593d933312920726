import { ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import { imageSize, type MediaFacts } from './facts.ts';

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;

/** Frame headers; C4, C8 and CC lie in between and are tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;

/**
 * Every marker segment and scan up to the end of the image. What phones append after it (a second picture, a clip,
 * a maker's trailer) belongs to nobody's image and is left alone.
 */
export function walkJpeg(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, 2);
  let facts: MediaFacts | undefined;
  let scans = 0;
  for (let marker = nextMarker(reader); marker !== EOI; marker = nextMarker(reader)) {
    if (marker === SOI) malformed(`a second image begins inside the first, at byte ${reader.at - 2}`);
    if (isRestart(marker) || marker === 0x01) continue;
    if (marker === 0x00) malformed(`there is data outside a scan at byte ${reader.at - 2}`);
    const segment = readSegment(reader, marker);
    if (isFrame(marker)) facts ??= frameSize(segment);
    if (marker === SOS) {
      if (facts === undefined) malformed('a scan comes before the frame header');
      scans += skipScan(reader);
    }
  }
  if (facts === undefined) malformed('it has no frame header');
  if (scans === 0) malformed('it has no image data');
  return facts;
}

function nextMarker(reader: ByteReader): number {
  reader.part = 'the file (no end-of-image marker yet)';
  const from = reader.at;
  if (reader.u8() !== 0xff) malformed(`at byte ${from} no marker stands where one must`);
  let marker = reader.u8();
  while (marker === 0xff) marker = reader.u8();
  return marker;
}

function readSegment(reader: ByteReader, marker: number): ByteReader {
  const name = `the segment ${marker.toString(16).toUpperCase()}`;
  reader.part = name;
  const length = reader.u16be();
  if (length < 2) malformed(`${name} at byte ${reader.at - 2} says a length of ${length}`);
  return reader.within(length - 2, name);
}

function frameSize(segment: ByteReader): MediaFacts {
  segment.skip(1);
  const height = segment.u16be();
  const width = segment.u16be();
  const components = segment.u8();
  const size = imageSize(width, height);
  if (components < 1 || segment.left !== components * 3) malformed('its frame header has a wrong length');
  return size;
}

/** Moves to the marker after the scan; 1 when the scan holds data. */
function skipScan(reader: ByteReader): number {
  const { bytes } = reader;
  const from = reader.at;
  let at = bytes.indexOf(0xff, from);
  for (; at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0x00 && next !== 0xff && !isRestart(next)) break;
  }
  if (at < 0) malformed('the image data is cut off: no end-of-image marker follows');
  reader.at = at;
  return at > from ? 1 : 0;
}
