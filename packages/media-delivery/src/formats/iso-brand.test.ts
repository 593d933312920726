import { describe, expect, it } from '@jest/globals';
import { be, hex, join, zeros } from '../testing/byte-parts.ts';
import { isoType } from './iso-brand.ts';
import { walkIsoMedia } from './iso-media.ts';
import { isoSample } from '../testing/film-samples.ts';

const head = (major: string, ...compatible: readonly string[]): Uint8Array =>
  join(be(16 + 4 * compatible.length, 4), 'ftyp', major, zeros(4), ...compatible);

describe('isoType', () => {
  it.each([
    ['isom', [], 'video/mp4'],
    ['M4V ', ['isom'], 'video/mp4'],
    ['xxxx', ['3gp6', 'isom'], 'video/3gpp'],
    ['qt  ', [], 'video/quicktime'],
    ['mif1', ['avif', 'miaf'], 'image/avif'],
    ['mif1', ['heic'], 'image/heic'],
    ['mif1', [], 'image/heif'],
    ['msf1', ['hevc', 'iso8'], 'image/heic'],
    ['M4A ', ['mp42'], 'audio/mp4'],
    ['x\u00ffyz', [], 'a file of brand "x.yz"'],
  ])('takes %j with %j for %s [MED-1] [field A9] [field A25]', (major, compatible, type) => {
    expect(isoType(head(major, ...compatible))).toBe(type);
  });

  it('knows QuickTime from before brands, and nothing else by its first box [MED-1]', () => {
    expect(isoType(join(be(40, 4), 'moov', zeros(32)))).toBe('video/quicktime');
    expect(isoType(join('some', 'moov', zeros(32)))).toBeUndefined();
    expect(isoType(zeros(3))).toBeUndefined();
  });
});

describe('walkIsoMedia', () => {
  const box = (type: string, ...parts: readonly Uint8Array[]): Uint8Array => {
    const body = join(...parts);
    return join(be(body.length + 8, 4), type, body);
  };

  it('takes QuickTime without a brand, closed lists, 64-bit sizes and data up to the end [MED-1]', () => {
    const handler = box('hdlr', zeros(8), join('vide'), zeros(12));
    const offsets = box('co64', zeros(4), be(1, 4), be(40, 8));
    const media = box('mdia', handler, box('minf', box('stbl', offsets)), zeros(4));
    const movie = box('moov', box('trak', media));
    const data = join(be(1, 4), 'mdat', be(20, 8), zeros(4));
    expect(walkIsoMedia(join(movie, data, be(0, 4), 'free', zeros(9)))).toEqual({});
  });

  it('refuses samples that lie behind the end, as a file without its data has them [MED-1]', () => {
    const sample = isoSample();
    const at = Buffer.from(sample.buffer).indexOf('stco') + 12;
    const lost = join(sample.subarray(0, at), be(sample.length, 4), sample.subarray(at + 4));
    expect(() => walkIsoMedia(lost)).toThrow(/chunk table points to byte \d+, behind the end/);
  });

  it('refuses a box that is smaller than its own head [MED-1]', () => {
    expect(() => walkIsoMedia(join(be(7, 4), 'moov', hex('00')))).toThrow(/says a size of 7 bytes/);
  });
});
