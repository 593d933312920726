import { crc16, crc8, oggCrc } from '../formats/crc.ts';
import { repeat, be, hex, join, le, zeros, type Part } from './byte-parts.ts';

/** MPEG 1 layer III, 128 kbit/s, 44,100 Hz: 417 bytes. */
const MP3_FRAME = join(hex('fffb 9064'), zeros(413));

export interface Mp3SampleOptions {
  readonly frames?: number;
  readonly tags?: readonly ('id3v2' | 'id3v1' | 'ape')[];
}

export function mp3Sample({ frames = 3, tags = [] }: Mp3SampleOptions = {}): Uint8Array {
  const title = join('TIT2', be(2, 4), zeros(2), hex('00'), 'x');
  return join(
    tags.includes('id3v2') ? join('ID3', hex('04 00 00'), be(title.length, 4), title) : '',
    repeat(MP3_FRAME, frames),
    tags.includes('ape') ? apeTag() : '',
    tags.includes('id3v1') ? join('TAG', zeros(125)) : '',
  );
}

function apeTag(): Uint8Array {
  const item = join(le(1, 4), zeros(4), 'Title\0', 'x');
  const edge = (flags: number): Uint8Array =>
    join('APETAGEX', le(2000, 4), le(item.length + 32, 4), le(1, 4), le(flags, 4), zeros(8));
  return join(edge(0xa000_0000), item, edge(0x8000_0000));
}

/** 16 bits, one channel, 8,000 Hz. */
export function wavSample({ samples = 4 } = {}): Uint8Array {
  const format = join(le(1, 2), le(1, 2), le(8000, 4), le(16_000, 4), le(2, 2), le(16, 2));
  const body = join('WAVE', 'fmt ', le(16, 4), format, 'data', le(samples * 2, 4), zeros(samples * 2));
  return join('RIFF', le(body.length, 4), body);
}

/** One page of one stream. `flags`: 2 begins the stream, 4 ends it. */
export function oggPage(data: Uint8Array, sequence: number, flags: number): Uint8Array {
  const lengths = [...Array<number>(Math.floor(data.length / 255)).fill(255), data.length % 255];
  const head = join('OggS', be(0, 1), be(flags, 1), zeros(8), le(7, 4), le(sequence, 4));
  const body = join(be(lengths.length, 1), Uint8Array.from(lengths), data);
  const page = join(head, zeros(4), body);
  return join(head, le(oggCrc(0, page, { from: 0, to: page.length }), 4), body);
}

/** Opus: two header packets and one of sound. */
export function oggSample({
  pages = 1,
  first,
  sound: packet = hex('f8 ff fe'),
}: { readonly pages?: number; readonly first?: Part; readonly sound?: Uint8Array } = {}): Uint8Array {
  const opusHead = join('OpusHead', hex('01 01'), le(0, 2), le(48_000, 4), zeros(3));
  const tags = join('OpusTags', le(1, 4), 'x', le(0, 4));
  const sound = Array.from({ length: pages }, (_none, page) =>
    oggPage(packet, page + 2, page === pages - 1 ? 4 : 0),
  );
  return join(oggPage(join(first ?? opusHead), 0, 2), oggPage(tags, 1, 0), ...sound);
}

/** A verbatim frame holds this many samples at most. */
const FLAC_BLOCK = 65_536;

/** Frames of 192 samples of silence, 16 bits, one channel; then `filler` as uncompressed sound. */
export function flacSample({ frames = 2, filler = zeros(0) } = {}): Uint8Array {
  const whole = Math.floor(filler.length / 2);
  const blocks = Array.from({ length: Math.ceil(whole / FLAC_BLOCK) }, (_none, block) =>
    filler.subarray(block * FLAC_BLOCK * 2, Math.min(whole, (block + 1) * FLAC_BLOCK) * 2),
  );
  const info = join(
    be(192, 2),
    be(192, 2),
    zeros(6),
    // 20 bits of sample rate, 3 of channels less one, 5 of bits less one, the first 4 of the count.
    be((44_100 << 4) >> 8, 2),
    hex('40 f0'),
    be(frames * 192 + whole, 4),
    zeros(16),
  );
  return join(
    'fLaC',
    hex('80'),
    be(34, 3),
    info,
    ...Array.from({ length: frames }, (_none, frame) => flacFrame(frame, hex('fff8 19 08'), hex('00 0000'))),
    ...blocks.map((data, block) => flacFrame(frames + block, hex('fff8 79 08'), join(hex('02'), data))),
  );
}

/** A start with the size code 7 has the length of its block behind its number. */
function flacFrame(number: number, start: Uint8Array, subframe: Uint8Array): Uint8Array {
  const hasLength = start[2] === 0x79;
  const length = hasLength ? be((subframe.length - 1) / 2 - 1, 2) : zeros(0);
  const head = join(start, be(number & 0x7f, 1), length);
  const body = join(head, be(crc8(head, 0, head.length), 1), subframe);
  return join(body, be(crc16(0, body, { from: 0, to: body.length }), 2));
}
