import { repeat, be, hex, join, le, zeros, type Part } from './byte-parts.ts';

const box = (type: string, ...parts: readonly Part[]): Uint8Array => {
  const body = join(type, ...parts);
  return join(be(body.length + 4, 4), body);
};

const fullBox = (type: string, ...parts: readonly Part[]): Uint8Array => box(type, zeros(4), ...parts);

const handler = (type: string): Uint8Array => fullBox('hdlr', zeros(4), type, zeros(12), '\0');

export interface IsoSampleOptions {
  /** Major brand, then compatible ones. */
  readonly brands?: readonly string[];
  readonly handlerType?: string;
  readonly data?: Uint8Array;
}

/** MP4, or whatever the brands say; the data stands before the movie header. */
export function isoSample({
  brands = ['isom', 'mp42'],
  handlerType = 'vide',
  data = zeros(8),
}: IsoSampleOptions = {}): Uint8Array {
  const [major = 'isom', ...compatible] = brands;
  const fileType = box('ftyp', major, be(512, 4), major, ...compatible);
  const table = box('stbl', fullBox('stco', be(1, 4), be(fileType.length + 8, 4)));
  const media = box('mdia', fullBox('mdhd', zeros(20)), handler(handlerType), box('minf', table));
  const movie = box('moov', fullBox('mvhd', zeros(96)), box('trak', fullBox('tkhd', zeros(80)), media));
  return join(fileType, box('mdat', data), movie);
}

const element = (id: string, ...parts: readonly Part[]): Uint8Array => {
  const body = join(...parts);
  return join(hex(id), be(0x10000000 + body.length, 4), body);
};

/** An element whose end is where its outer one ends. */
const openElement = (id: string, ...parts: readonly Part[]): Uint8Array =>
  join(hex(id), hex('01ffffffffffffff'), ...parts);

export interface MatroskaSampleOptions {
  readonly docType?: string;
  readonly trackType?: number;
  /** As live writers do it. */
  readonly hasOpenSizes?: boolean;
  readonly data?: Uint8Array;
}

export function matroskaSample({
  docType = 'webm',
  trackType = 1,
  hasOpenSizes = false,
  data = zeros(8),
}: MatroskaSampleOptions = {}): Uint8Array {
  const outer = hasOpenSizes ? openElement : element;
  const header = element('1a45dfa3', element('4286', hex('01')), element('4282', docType));
  const track = element('ae', element('d7', hex('01')), element('83', be(trackType, 1)));
  const cluster = outer('1f43b675', element('e7', hex('00')), element('a3', hex('81 0000 80'), data));
  return join(
    header,
    outer(
      '18538067',
      element('1549a966', element('2ad7b1', be(1_000_000, 4))),
      element('1654ae6b', track),
      cluster,
      cluster,
    ),
  );
}

const riffChunk = (id: string, data: Part): Uint8Array =>
  join(id, le(data.length, 4), data, zeros(data.length % 2));

const list = (type: string, ...chunks: readonly Uint8Array[]): Uint8Array =>
  riffChunk('LIST', join(type, ...chunks));

export function aviSample({ data = zeros(9) }: { readonly data?: Uint8Array } = {}): Uint8Array {
  const stream = list('strl', riffChunk('strh', join('vids', zeros(52))), riffChunk('strf', zeros(40)));
  return riffChunk(
    'RIFF',
    join(
      'AVI ',
      list('hdrl', riffChunk('avih', zeros(56)), stream),
      list('movi', riffChunk('00dc', data)),
      riffChunk('idx1', zeros(16)),
    ),
  );
}

export function flvSample({
  data = zeros(4),
  tags = 2,
}: { readonly data?: Uint8Array; readonly tags?: number } = {}): Uint8Array {
  const tag = join(hex('09'), be(data.length, 3), zeros(7), data, be(data.length + 11, 4));
  return join('FLV', hex('01 01 00000009 00000000'), repeat(tag, tags));
}

const packet = (id: string, data: Uint8Array): Uint8Array =>
  join(hex('000001'), hex(id), be(data.length, 2), data);

/** An MPEG-2 program stream with one pack. */
export const mpegSample = ({
  data = zeros(16),
  packets = 1,
}: { readonly data?: Uint8Array; readonly packets?: number } = {}): Uint8Array =>
  join(
    hex('000001ba 44 00 04 00 04 01 00 00 03 f8'),
    packet('bb', zeros(6)),
    repeat(packet('e0', data), packets),
    hex('000001b9'),
  );

/** A bare MPEG-1 video stream of one picture, 16×16. */
export const mpegVideoSample = ({ data = hex('aa55') }: { readonly data?: Uint8Array } = {}): Uint8Array =>
  join(
    hex('000001b3 010010 13 ffffe000'),
    hex('000001b8 00080040'),
    hex('00000100 000ffff8'),
    hex('00000101'),
    data,
    hex('000001b7'),
  );

const guidObject = (guid: string, ...parts: readonly Part[]): Uint8Array => {
  const body = join(...parts);
  return join(hex(guid), le(body.length + 24, 8), body);
};

const ASF_VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';
const ASF_AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';

/** Windows media with one packet; without a film it is WMA. */
export function asfSample({
  isFilm = true,
  data = zeros(32),
}: { readonly isFilm?: boolean; readonly data?: Uint8Array } = {}): Uint8Array {
  const properties = guidObject(
    'a1dcab8c47a9cf118ee400c00c205365',
    zeros(64),
    le(2, 4),
    le(data.length, 4),
    le(data.length, 4),
    le(1000, 4),
  );
  const stream = guidObject(
    '9107dcb7b7a9cf118ee600c00c205365',
    hex(isFilm ? ASF_VIDEO : ASF_AUDIO),
    zeros(38),
  );
  return join(
    guidObject('3026b2758e66cf11a6d900aa0062ce6c', le(2, 4), hex('0102'), properties, stream),
    guidObject('3626b2758e66cf11a6d900aa0062ce6c', zeros(16), le(1, 8), hex('0101'), data),
  );
}
