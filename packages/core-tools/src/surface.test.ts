import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as aiSdk from './ai-sdk/index.ts';
import * as surface from './index.ts';
import * as mcp from './mcp/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: object;
  readonly dependencies: object;
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
      'guardProcess',
    ]);
  });

  it('exports exactly these values for the AI SDK', () => {
    expect(Object.keys(aiSdk)).toEqual(['aiSdkTools']);
  });

  it('exports exactly these values for MCP servers', () => {
    expect(Object.keys(mcp).toSorted()).toEqual([
      'Lanes',
      'ProgressFeed',
      'callResult',
      'inArrivalOrder',
      'mcpTools',
      'toolListing',
    ]);
  });

  it('imports nothing of what a host brings: neither entry costs a dependency', () => {
    const { dependencies } = manifest;
    for (const name of ['@modelcontextprotocol/sdk', '@ai-sdk/provider-utils'])
      expect(dependencies).not.toHaveProperty(name);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './ai-sdk', './mcp', './package.json']);
  });
});
