import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as surface from './index.ts';
import * as file from './file/index.ts';
import * as testing from './testing/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'DEFAULT_SERVER_TIMEOUT_MS',
      'MCP_PROVIDER_ID',
      'assignNames',
      'createMcpBridge',
      'credentialKey',
      'mcpError',
      'sdkConnector',
    ]);
  });

  it('gives tests exactly these values', () => {
    expect(Object.keys(testing).toSorted()).toEqual(['memoryCredentials', 'memoryToolLists']);
  });

  it('keeps things in files with exactly these values', () => {
    expect(Object.keys(file).toSorted()).toEqual(['fileCredentials', 'fileToolLists']);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './file', './testing', './package.json']);
  });
});
