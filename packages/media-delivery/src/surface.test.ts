import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

it('exports exactly these values', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'ATTACHMENT_BUDGET',
    'COMMON_LIMITS',
    'DEFAULT_MAX_COUNT',
    'DEFAULT_MAX_PDF_PAGES',
    'DELIVERY_MATRIX',
    'FAMILY_LIMITS',
    'MEDIA_FORMATS',
    'createMediaGate',
    'fitAttachments',
    'formatOf',
    'inspect',
    'leftOutNote',
    'maxBytesOf',
    'maxCountOf',
    'mediaPlacer',
    'mediaTokens',
    'placeOf',
    'sniff',
    'withoutAttachments',
  ]);
});

it('gives tests exactly these values', () => {
  expect(Object.keys(testing).toSorted()).toEqual([
    'asfSample',
    'aviSample',
    'flacSample',
    'flvSample',
    'foreignSamples',
    'gifSample',
    'isoSample',
    'jpegSample',
    'largeMediaSamples',
    'matroskaSample',
    'mediaSamples',
    'mp3Sample',
    'mpegSample',
    'mpegVideoSample',
    'oggSample',
    'pdfSample',
    'pngClaim',
    'pngSample',
    'wavSample',
    'webpAnimatedSample',
    'webpClaim',
    'webpExtendedSample',
    'webpLosslessSample',
    'webpSample',
  ]);
});

it('has exactly these entry points', async () => {
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json']);
});
