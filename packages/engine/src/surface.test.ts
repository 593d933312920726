import { describe, expect, it } from '@jest/globals';
import manifest from '../package.json' with { type: 'json' };
import * as surface from './index.ts';
import * as file from './file/index.ts';

// A red test here is no veto: it asks whether users were meant to see the change, and for a changeset.
describe('the surface of the package', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'SessionState',
      'UsageLedger',
      'createEngine',
      'engineError',
      'modelTextOf',
      'ownModelsFirst',
      'parseRuleArgument',
      'permissionModes',
      'publishedTools',
      'toolDefinitions',
    ]);
  });

  it('exports exactly these values under ./file', () => {
    expect(Object.keys(file).toSorted()).toEqual(['fileSessionStore']);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './file', './package.json']);
  });
});
