import { describe, expect, it } from '@jest/globals';
import { LineIndex, type FileVersion } from './line-index.ts';
import { LineMap, type LineMark } from './line-map.ts';

const markAt = (position: number, ended: number, isOpen = false): LineMark => ({
  position,
  progress: { ended, crlf: 0, isOpen, lastByte: 0x61, isUnterminated: false },
});

/** A map of lines of ten bytes each. */
function mapOf(lines: number, stepBytes = 10): LineMap {
  const map = new LineMap('utf-8', stepBytes);
  for (let ended = 1; ended <= lines; ended++) map.see(markAt(ended * 10, ended));
  return map;
}

const version = (file: string, changes: Partial<FileVersion> = {}): FileVersion => ({
  file,
  stamp: 's',
  isSettled: true,
  bytes: 1000,
  ...changes,
});

describe('LineMap', () => {
  it('M1 leads to the nearest mark before a line, never into the line itself [FS-14]', () => {
    const map = mapOf(100, 200);
    expect([5, 20, 39, 45, 100, 5000].map((line) => map.before(line)?.position)).toEqual([
      undefined,
      200,
      200,
      400,
      1000,
      1000,
    ]);
    map.see(markAt(5000, 100, true));
    expect([map.before(100)?.position, map.before(101)?.position]).toEqual([1000, 5000]);
  });

  it('M1 keeps at most 4,096 marks, however long the file is [FS-14]', () => {
    const map = mapOf(100_000);
    expect(map.size).toBeLessThanOrEqual(4096);
    for (const line of [50, 1_000, 54_321, 99_999]) {
      const { position, progress } = map.before(line) ?? markAt(0, 0);
      expect(progress.ended * 10).toBe(position);
      expect(line - progress.ended).toBeGreaterThanOrEqual(0);
      expect(line - progress.ended).toBeLessThan(64);
    }
  });

  it('learns in a copy without changing what others read [FS-14]', () => {
    const map = mapOf(10);
    const copy = map.copy();
    copy.see(markAt(500, 50));
    copy.seeEnd(markAt(510, 51));
    expect([map.scannedBytes, map.totalLines, copy.scannedBytes, copy.totalLines]).toEqual([
      100,
      null,
      510,
      51,
    ]);
  });
});

describe('LineIndex', () => {
  it('I1 hands a map out for its version alone [FS-14]', () => {
    const index = new LineIndex(100);
    const map = mapOf(5);
    index.keep(version('a'), map);
    expect(index.mapOf(version('a'))).toBe(map);
    expect(index.mapOf(version('b'))).toBeNull();
    expect(index.mapOf(version('a', { stamp: 't' }))).toBeNull();
    expect(index.mapOf(version('a'))).toBeNull();
  });

  it('I1 keeps the map that has seen more of the same version [FS-14]', () => {
    const index = new LineIndex(100);
    const [short, long, other] = [mapOf(5), mapOf(50), mapOf(1)];
    index.keep(version('a'), long);
    index.keep(version('a'), short);
    expect(index.mapOf(version('a'))).toBe(long);
    index.keep(version('a', { stamp: 't' }), other);
    expect(index.mapOf(version('a', { stamp: 't' }))).toBe(other);
  });

  it('I2 keeps nothing of a file that may still change unseen or is small [FS-14] [FS-5]', () => {
    const index = new LineIndex(100);
    index.keep(version('a', { isSettled: false }), mapOf(5));
    index.keep(version('proc', { bytes: 0 }), mapOf(5));
    index.keep(version('small', { bytes: 99 }), mapOf(5));
    expect(index.files).toBe(0);
  });

  it('I3 forgets the files that were not asked for longest [FS-14]', () => {
    const index = new LineIndex(100);
    for (let file = 0; file < 64; file++) index.keep(version(`${file}`), mapOf(5));
    index.mapOf(version('0'));
    index.keep(version('64'), mapOf(5));
    expect([index.files, index.mapOf(version('1'))]).toEqual([64, null]);
    expect(index.mapOf(version('0'))).not.toBeNull();
    for (let file = 0; file < 6; file++) index.keep(version(`large${file}`), mapOf(4_000));
    expect(index.files).toBe(4);
    expect(index.mapOf(version('large5'))).not.toBeNull();
  });
});
