import { describe, expect, it } from '@jest/globals';
import { be, hex, join, le, zeros } from '../testing/byte-parts.ts';
import { mp3Sample } from '../testing/sound-samples.ts';
import { walkMp3 } from './mp3.ts';
import { leadingTag, soundEnd, soundStart } from './tags.ts';

const sound = mp3Sample();

const lyrics = (text: string): string =>
  `LYRICSBEGIN${text}${String(11 + text.length).padStart(6, '0')}LYRICS200`;
const apeHeader = (size: number): Uint8Array => join('APETAGEX', le(2000, 4), le(size, 4), zeros(16));
const footedId3 = join('ID3', hex('04 00 10'), be(3, 4), 'abc', '3DI', hex('04 00 10'), be(3, 4));

describe('tags around the sound', () => {
  it.each([
    ['ID3v2', join('ID3', hex('03 00 00 00 00 01 01'), zeros(129))],
    ['ID3v2 with a footer', footedId3],
    ['ID3v2 and zeros', join('ID3', hex('03 00 00'), be(4, 4), zeros(4 + 700))],
    ['two ID3v2', join('ID3', hex('03 00 00'), be(1, 4), 'x', 'ID3', hex('04 00 00'), be(1, 4), 'y')],
    ['APEv2', join(apeHeader(5), 'items')],
  ])('skips %s before it [MED-1]', (_what, tag) => {
    const bytes = join(tag, sound);
    expect(leadingTag(bytes, 0)).toBeGreaterThan(0);
    expect(soundStart(bytes)).toBe(tag.length);
    expect(walkMp3(bytes)).toEqual({});
  });

  it.each([
    ['ID3v1', join('TAG', zeros(125))],
    ['Lyrics3 before ID3v1', join(lyrics('la la'), 'TAG', zeros(125))],
    ['ID3v2 with a footer', footedId3],
    ['APEv2 without a header', join('item', 'APETAGEX', le(2000, 4), le(36, 4), zeros(16))],
  ])('leaves off %s behind it [MED-1]', (_what, tag) => {
    const bytes = join(sound, tag);
    expect(soundEnd(bytes)).toBe(sound.length);
    expect(walkMp3(bytes)).toEqual({});
  });

  it.each([
    ['lyrics of no length', join(sound, 'xxxxxxLYRICS200')],
    ['a tag larger than the file', join('x', 'APETAGEX', le(2000, 4), le(9_999_999, 4), zeros(16))],
    ['nothing', zeros(0)],
    ['half a tag', join('ID3', zeros(3))],
  ])('takes no more than there is from %s [MED-1]', (_what, bytes) => {
    expect(soundEnd(bytes)).toBe(bytes.length);
    expect(soundStart(bytes)).toBe(0);
  });
});
