import { describe, expect, it } from '@jest/globals';
import { formatManifest, parseManifest } from './manifest.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const streams = [
  { name: 'stdout', sha256: A, byte_length: 12, line_count: 2 },
  { name: 'stderr', sha256: B, byte_length: 0, line_count: 0 },
];

describe('formatManifest', () => {
  it('writes exactly the one line that the rule names [ART-17]', () => {
    expect(formatManifest(streams)).toBe(
      `{"kind":"output_manifest","version":1,"streams":[{"name":"stdout","reference":{"uri":"artifact://sha256/${A}"},` +
        `"sha256":"${A}","byte_length":12,"line_count":2},{"name":"stderr","reference":{"uri":"artifact://sha256/${B}"},` +
        `"sha256":"${B}","byte_length":0,"line_count":0}]}`,
    );
  });

  it('is read back [ART-17]', () => {
    expect(parseManifest(formatManifest(streams))).toMatchObject(streams);
  });
});

describe('parseManifest', () => {
  const good = JSON.parse(formatManifest(streams)) as { streams: [Record<string, unknown>] };
  const withStream = (change: object): string =>
    JSON.stringify({ ...good, streams: [{ ...good.streams[0], ...change }] });
  it.each([
    ['no JSON', 'hello\n'],
    ['nothing', ''],
    ['an array', '[]'],
    ['another version', JSON.stringify({ ...good, version: 2 })],
    ['another kind', JSON.stringify({ ...good, kind: 'manifest' })],
    ['a key that is not known', JSON.stringify({ ...good, preview: 'x' })],
    ['no stream', JSON.stringify({ ...good, streams: [] })],
    [
      'nine streams',
      JSON.stringify({ ...good, streams: Array.from('123456789', (name) => ({ ...good.streams[0], name })) }),
    ],
    ['a name twice', JSON.stringify({ ...good, streams: [good.streams[0], good.streams[0]] })],
    ['a name that is none', withStream({ name: '../x' })],
    ['a digest that is none', withStream({ sha256: '../../etc/passwd' })],
    ['a reference to something else', withStream({ sha256: B })],
    ['a line break at the end', `${formatManifest(streams)}\n`],
    ['keys in another order', JSON.stringify({ version: 1, kind: 'output_manifest', streams: good.streams })],
    ['a key twice', formatManifest(streams).replace('{', '{"version":1,')],
    ['a number spelt otherwise', formatManifest(streams).replace('"version":1,', '"version":1.0,')],
    ['a negative length', withStream({ byte_length: -1 })],
  ])('takes %s for no manifest [ART-7] [ART-17]', (_, text) => {
    expect(parseManifest(text)).toBeNull();
  });
});
