import { describe, expect, it } from '@jest/globals';
import { expandReferences, namesIn } from './env-references.ts';

describe('expandReferences', () => {
  it('puts every variable in and leaves the rest as it is [CFG-4]', () => {
    const environment = { HOST: 'example.org', KEY: '$& $1' };
    expect(expandReferences('https://${env:HOST}/v1?k=${env:KEY}', environment, 'x')).toBe(
      'https://example.org/v1?k=$& $1',
    );
    expect(expandReferences('plain $HOST', environment, 'x')).toBe('plain $HOST');
  });

  it('names a missing variable and who needs it, and no other value [CFG-4]', () => {
    expect(() => expandReferences('${env:A}${env:B}', { A: 'secret', B: '' }, 'provider "local"')).toThrow(
      'the environment variable B is not set: provider "local" needs it',
    );
  });
});

describe('namesIn', () => {
  it.each([
    ['${env:A} ${env:B_2}', ['A', 'B_2']],
    ['none', []],
    ['${env:}', undefined],
    ['${env:9A}', undefined],
    ['${env:A', undefined],
  ])('reads %p as %p [CFG-4]', (value, names) => {
    expect(namesIn(value)).toEqual(names);
  });
});
