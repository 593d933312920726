import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatArtifactUri, parseArtifactUri, storedReference } from './artifact-uri.ts';

const DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('parseArtifactUri', () => {
  it.each([
    [`artifact://${DIGEST}`, null],
    [`artifact://${DIGEST}/stdout`, 'stdout'],
    [`artifact://${DIGEST}/Results_2.v-1`, 'Results_2.v-1'],
    [`artifact://${DIGEST}/...`, '...'],
    [`artifact://${DIGEST}/${'n'.repeat(64)}`, 'n'.repeat(64)],
  ])('takes %s apart and puts it together again [ART-3] [OUT-1]', (uri, stream) => {
    expect(parseArtifactUri(uri)).toEqual({ digest: DIGEST, stream });
    expect(formatArtifactUri({ digest: DIGEST, stream })).toBe(uri);
  });

  it.each([
    ['a bare hash', DIGEST],
    ['nothing', ''],
    ['the scheme alone', 'artifact://'],
    ['the stored form', `artifact://sha256/${DIGEST}`],
    ['a stored form with a stream', `artifact://sha256/${DIGEST}/stdout`],
    ['an uppercase digest', `artifact://${DIGEST.toUpperCase()}`],
    ['one uppercase digit', `artifact://E${DIGEST.slice(1)}`],
    ['a short digest', `artifact://${DIGEST.slice(1)}`],
    ['a long digest', `artifact://${DIGEST}0`],
    ['a digest with another character', `artifact://${DIGEST.slice(1)}g`],
    ['digits of another script', `artifact://${'٣'.repeat(64)}`],
    ['an empty stream name', `artifact://${DIGEST}/`],
    ['an extra segment', `artifact://${DIGEST}/stdout/more`],
    ['a slash at the end', `artifact://${DIGEST}/stdout/`],
    ['two slashes', `artifact://${DIGEST}//stdout`],
    ['a third slash', `artifact:///${DIGEST}`],
    ['the current folder', `artifact://${DIGEST}/.`],
    ['the folder above', `artifact://${DIGEST}/..`],
    ['traversal', `artifact://${DIGEST}/../../etc/passwd`],
    ['traversal before the digest', `artifact://../${DIGEST}`],
    ['a backslash', `artifact://${DIGEST}\\stdout`],
    ['a query', `artifact://${DIGEST}?x=1`],
    ['a query after the stream', `artifact://${DIGEST}/stdout?x=1`],
    ['a fragment', `artifact://${DIGEST}#top`],
    ['a fragment after the stream', `artifact://${DIGEST}/stdout#L1`],
    ['a percent-encoded stream', `artifact://${DIGEST}/std%6fut`],
    ['a percent-encoded slash', `artifact://${DIGEST}%2Fstdout`],
    ['a stream name of 65 bytes', `artifact://${DIGEST}/${'n'.repeat(65)}`],
    ['a stream name outside ASCII', `artifact://${DIGEST}/öut`],
    ['a space in the stream name', `artifact://${DIGEST}/std out`],
    ['a NUL', `artifact://${DIGEST}/std\0out`],
    ['an LF at the end', `artifact://${DIGEST}\n`],
    ['an LF after the stream', `artifact://${DIGEST}/stdout\n`],
    ['a space before', ` artifact://${DIGEST}`],
    ['an uppercase scheme', `ARTIFACT://${DIGEST}`],
    ['another scheme', `file://${DIGEST}`],
    ['a host and port', `artifact://${DIGEST}:80`],
    ['a user', `artifact://me@${DIGEST}`],
  ])('refuses %s and says what is right [ART-5] [ART-6]', (_, uri) => {
    expect(() => parseArtifactUri(uri)).toThrow(expect.objectContaining({ code: 'artifact_uri' }));
    expect(() => parseArtifactUri(uri)).toThrow('use artifact://<64 lowercase hex digits>');
  });

  it('does not repeat a megabyte of nonsense to the model [ART-6]', () => {
    expect(() => parseArtifactUri(`artifact://${'x'.repeat(1_000_000)}`)).toThrow(/^.{0,400}$/);
  });
});

describe('the grammar of artifact URIs', () => {
  const GRAMMAR = /^artifact:\/\/[0-9a-f]{64}(?:\/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64})?$/;
  const digest = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
  const name = fc.string({ unit: fc.constantFrom(...'aZ09_.-'), minLength: 1, maxLength: 64 });
  const part = fc.oneof(
    digest,
    name,
    fc.constantFrom(
      'artifact://',
      'sha256/',
      '/',
      '//',
      '.',
      '..',
      '?',
      '#',
      '%2f',
      '\\',
      ' ',
      '\n',
      '\0',
      'A',
      ':',
      '@',
    ),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  );

  it('is exactly this, for right URIs, for such with a change, and for any other text [ART-3] [ART-6] [OUT-1]', () => {
    const right = fc
      .tuple(digest, fc.option(name))
      .map(([hex, stream]) => `artifact://${hex}${stream === null ? '' : `/${stream}`}`);
    const changed = fc
      .tuple(right, fc.nat(140), part, fc.nat(2))
      .map(([uri, at, insert, cut]) => uri.slice(0, at) + insert + uri.slice(at + cut));
    const joined = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(right, changed, joined), (uri) => {
        if (GRAMMAR.test(uri)) expect(formatArtifactUri(parseArtifactUri(uri))).toBe(uri);
        else expect(() => parseArtifactUri(uri)).toThrow(expect.objectContaining({ code: 'artifact_uri' }));
      }),
      { numRuns: 3000 },
    );
  });
});

it('stores references in the form with the algorithm [ART-3]', () => {
  expect(storedReference(DIGEST)).toEqual({ uri: `artifact://sha256/${DIGEST}` });
});
