import { ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import { imageSize, type MediaFacts } from './facts.ts';

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** Every block up to the trailer, however many frames; old tools leave a few bytes behind it. */
export function walkGif(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, 6);
  reader.part = 'the header';
  const facts = imageSize(reader.u16le(), reader.u16le());
  const flags = reader.u8();
  reader.skip(2);
  skipColours(reader, flags);
  let frames = 0;
  for (let block = nextBlock(reader); block !== TRAILER; block = nextBlock(reader)) {
    if (block === EXTENSION) {
      reader.skip(1);
      skipSubBlocks(reader, 'an extension');
    } else if (block === IMAGE) {
      frames += 1;
      skipFrame(reader, frames);
    } else malformed(`at byte ${reader.at - 1} stands ${block} where a block begins`);
  }
  if (frames === 0) malformed('it has no frame');
  return facts;
}

function nextBlock(reader: ByteReader): number {
  reader.part = 'the file (no trailer yet)';
  return reader.u8();
}

function skipColours(reader: ByteReader, flags: number): void {
  if ((flags & 0x80) !== 0) reader.skip(3 << ((flags & 7) + 1));
}

function skipFrame(reader: ByteReader, frame: number): void {
  reader.part = `frame ${frame}`;
  reader.skip(4);
  imageSize(reader.u16le(), reader.u16le());
  skipColours(reader, reader.u8());
  const codeSize = reader.u8();
  if (codeSize < 1 || codeSize > 11) malformed(`frame ${frame} says codes of ${codeSize} bits`);
  skipSubBlocks(reader, `frame ${frame}`);
}

function skipSubBlocks(reader: ByteReader, what: string): void {
  reader.part = what;
  for (let length = reader.u8(); length > 0; length = reader.u8()) reader.skip(length);
}
