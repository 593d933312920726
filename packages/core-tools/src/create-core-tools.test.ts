import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { contextIn } from './testing/calls.ts';
import { coreToolProvider, createCoreTools, type CoreToolPorts } from './create-core-tools.ts';

const ports: CoreToolPorts = {
  artifacts: null,
  stages: null,
  home: '/',
  environment: {},
  withheld: [],
  clock: systemClock,
};

describe('createCoreTools', () => {
  it('gives the five tools in their order, each with what it declares [SCH-2] [OUT-17]', () => {
    const specs = createCoreTools(ports).map(
      ({ spec: { name, action, concurrency, truncation, origin } }) => [
        name,
        action,
        concurrency,
        truncation,
        origin,
      ],
    );
    expect(specs).toEqual([
      ['read', 'read', 'parallel', 'opt_out', 'builtin'],
      ['write', 'write', 'parallel', 'bounded', 'builtin'],
      ['edit', 'write', 'parallel', 'bounded', 'builtin'],
      ['bash', 'bash', 'parallel', 'bounded', 'builtin'],
      ['webfetch', 'webfetch', 'parallel', 'bounded', 'builtin'],
    ]);
  });

  it('publishes exactly the arguments of the reference, and replaceAll [FS-1] [FS-7] [FS-8]', () => {
    const schemas = createCoreTools(ports).map(({ spec: { parameters } }) => parameters);
    expect(schemas.slice(0, 3)).toMatchObject([
      {
        required: ['filePath'],
        additionalProperties: false,
        properties: {
          offset: { type: 'integer', minimum: 0, default: 0 },
          limit: { minimum: 1, default: 2000 },
        },
      },
      { required: ['filePath', 'content'], additionalProperties: false },
      { required: ['filePath', 'oldString', 'newString'], properties: { replaceAll: { default: false } } },
    ]);
  });

  it('is one provider, with one set for every run', async () => {
    const provider = coreToolProvider(ports);
    expect(provider.id).toBe('builtin.tools');
    const tools = await provider.tools(contextIn('/').session);
    expect(tools.map(({ spec }) => spec.name)).toEqual(['read', 'write', 'edit', 'bash', 'webfetch']);
  });
});
