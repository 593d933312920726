import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

it('exports exactly these values', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'ArtifactStore',
    'fileBackend',
    'fileLocks',
    'formatArtifactUri',
    'logFilesUnder',
    'memoryBackend',
    'openArtifactStore',
    'parseArtifactUri',
  ]);
  expect(Object.keys(testing)).toEqual(['blobBackendCases']);
});

it('has exactly these entry points', async () => {
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json']);
});
