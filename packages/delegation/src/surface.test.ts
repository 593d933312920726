import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'DEFAULT_DELEGATION_SETTINGS',
      'DelegationLedger',
      'clientRunIdOf',
      'createDelegation',
      'delegationEventSchemas',
    ]);
  });

  it('gives tests exactly these values', () => {
    expect(Object.keys(testing).toSorted()).toEqual(['MemoryHost', 'memoryLog', 'sessionHostCases']);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json']);
  });

  it('writes exactly these events', () => {
    expect(
      Object.fromEntries(
        Object.entries(surface.delegationEventSchemas).map(([type, schema]) => [
          type,
          Object.keys(schema.shape),
        ]),
      ),
    ).toEqual({
      delegation_reserved: [
        'type',
        'invocation_id',
        'child_id',
        'handle',
        'agent',
        'title',
        'prompt',
        'background',
        'resumes',
        'inherited',
        'parent_run_id',
        'tool_call_id',
      ],
      delegation_queued: ['type', 'invocation_id'],
      delegation_started: ['type', 'invocation_id'],
      delegation_finished: [
        'type',
        'invocation_id',
        'status',
        'preview',
        'lines',
        'truncated',
        'error',
        'delivery',
      ],
    });
  });
});
