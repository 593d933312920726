import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'ADAPTORS',
      'PLATFORM_FIELDS',
      'createModelGateway',
      'readModelsDev',
    ]);
  });

  it('gives tests exactly these values', () => {
    expect(Object.keys(testing).toSorted()).toEqual([
      'anthropicTurn',
      'bedrockTurn',
      'chunked',
      'cohereTurn',
      'cutAfter',
      'endAfter',
      'eventStream',
      'geminiTurn',
      'hangAfter',
      'httpError',
      'openaiTurn',
      'responsesTurn',
      'startModelServer',
    ]);
  });

  it('has exactly these entry points', () => {
    const manifest = JSON.parse(readFileSync(`${import.meta.dirname}/../package.json`, 'utf8')) as {
      readonly exports: object;
    };
    expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json']);
  });
});
