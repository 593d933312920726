import { ByteReader, startsWith } from './byte-reader.ts';
import { oggCrc } from './crc.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';

const MAX_STREAMS = 64;
const CRC_AT = 22;
/** What stands in place of the checksum while it is made. */
const NO_CHECKSUM = new Uint8Array(4);

/** How the first packet of a sound stream begins. */
const SOUND = ['\u0001vorbis', 'OpusHead', 'Speex   ', '\u007fFLAC'];
const PICTURE = ['\u0080theora', 'OVP80', 'BBCD', '\u0001video'];
/** Describes other streams. */
const SKELETON = 'fishead';

interface Stream {
  next: number;
  isEnded: boolean;
}

interface Page {
  readonly at: number;
  readonly flags: number;
  readonly serial: number;
  readonly sequence: number;
  /** Where the packets begin. */
  readonly body: number;
}

/** Every page with its checksum, each stream from its first to its last page. */
export function walkOgg(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes);
  const streams = new Map<number, Stream>();
  let sounds = 0;
  while (reader.left > 0) {
    const page = readPage(reader);
    if ((page.flags & 2) !== 0) sounds += openStream(streams, page, bytes);
    followStream(streams, page);
  }
  if (sounds === 0) malformed('it has no sound stream');
  const open = [...streams.values()].filter(({ isEnded }) => !isEnded).length;
  if (open > 0) malformed('it is cut off: the last page does not end its stream');
  return {};
}

/** Whether one of the streams that begin in `head` is a film. */
export function hasOggPictures(head: Uint8Array): boolean {
  let at = 0;
  while (startsWith(head, 'OggS', at) && ((head[at + 5] ?? 0) & 2) !== 0) {
    const segments = head[at + 26] ?? 0;
    const body = at + 27 + segments;
    if (PICTURE.some((magic) => startsWith(head, magic, body))) return true;
    at = body + head.subarray(at + 27, body).reduce((sum, length) => sum + length, 0);
  }
  return false;
}

function readPage(reader: ByteReader): Page {
  const { at } = reader;
  reader.part = `the page at byte ${at}`;
  reader.countPart();
  if (reader.ascii(4) !== 'OggS' || reader.u8() !== 0) malformed(`no page begins at byte ${at}`);
  const flags = reader.u8();
  reader.skip(8);
  const [serial, sequence, sum] = [reader.u32le(), reader.u32le(), reader.u32le()];
  const lengths = reader.take(reader.u8());
  const body = reader.skip(lengths.reduce((total, length) => total + length, 0));
  const start = oggCrc(0, reader.bytes, { from: at, to: at + CRC_AT });
  const zeros = oggCrc(start, NO_CHECKSUM, { from: 0, to: 4 });
  if (oggCrc(zeros, reader.bytes, { from: at + CRC_AT + 4, to: reader.at }) !== sum) {
    malformed(`the page at byte ${at} has a wrong checksum`);
  }
  return { at, flags, serial, sequence, body };
}

function openStream(streams: Map<number, Stream>, { at, serial, body }: Page, bytes: Uint8Array): number {
  if (streams.has(serial)) malformed(`the page at byte ${at} begins a stream that has begun already`);
  if (streams.size >= MAX_STREAMS) malformed(`it has more than ${MAX_STREAMS} streams`);
  streams.set(serial, { next: 0, isEnded: false });
  if (startsWith(bytes, SKELETON, body)) return 0;
  if (!SOUND.some((magic) => startsWith(bytes, magic, body))) {
    malformed(`the stream that begins at byte ${at} is not Vorbis, Opus, Speex or FLAC`);
  }
  return 1;
}

function followStream(streams: Map<number, Stream>, { at, flags, serial, sequence }: Page): void {
  const stream = streams.get(serial);
  if (stream === undefined) malformed(`the page at byte ${at} belongs to no stream that has begun`);
  if (stream.isEnded) malformed(`the page at byte ${at} follows the end of its stream`);
  if (sequence !== stream.next) malformed(`page ${stream.next} of a stream is missing before byte ${at}`);
  stream.next += 1;
  stream.isEnded = (flags & 4) !== 0;
}
