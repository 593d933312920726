import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { VERSION } from './version.ts';

it('is the version of the package [CLI-1]', () => {
  const manifest = new URL('../package.json', import.meta.url);
  expect(VERSION).toBe((JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version);
});
