import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as aiSdk from './ai-sdk/index.ts';
import * as surface from './index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: object;
};

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'coreToolProvider',
      'createBashTool',
      'createCoreTools',
      'createEditTool',
      'createReadTool',
      'createWebfetchTool',
      'createWriteTool',
      'fileStageJournal',
    ]);
  });

  it('exports exactly these values for the AI SDK', () => {
    expect(Object.keys(aiSdk)).toEqual(['aiSdkTools']);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './ai-sdk', './package.json']);
  });
});
