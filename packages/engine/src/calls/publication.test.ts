import { describe, expect, it } from '@jest/globals';
import type { PermissionAction, PermissionEffect, ToolSpec } from '@agentd/contract';
import { deferred, flush } from '@agentd/contract/testing';
import { KeyLock } from './key-lock.ts';
import { publishedTools, toolDefinitions } from './publication.ts';
import { callOf, fakeTool, said, textModel, turnFixture } from './testing/turn-fixture.ts';

const allow = (...actions: readonly PermissionAction[]) =>
  actions.map((action) => ({ action, pattern: '*', effect: 'allow' as PermissionEffect }));

const rules = { document: allow('read', 'mcp', 'plugin'), overlay: [] };

/** What the engine makes of a tool's claims. */
function granted(claims: Partial<ToolSpec>): Pick<ToolSpec, 'concurrency' | 'truncation'> {
  const { concurrency, truncation } = publishedTools([fakeTool(claims)], { rules, model: null }).get(
    'tool',
  )!.spec;
  return { concurrency, truncation };
}

describe('publishedTools', () => {
  it('publishes what rules allow or ask for, and the model can call [ARG-1] [PERM-3]', () => {
    const tools = [
      fakeTool({ name: 'read' }),
      fakeTool({ name: 'write', action: 'write' }),
      fakeTool({ name: 'bash', action: 'bash' }),
    ];
    const layers = {
      document: [...allow('read'), { action: 'bash' as const, pattern: '*', effect: 'deny' as const }],
      overlay: [{ action: 'write' as const, pattern: 'x', effect: 'ask' as const }],
    };
    const names = (model: typeof textModel | null): readonly string[] => [
      ...publishedTools(tools, { rules: layers, model }).keys(),
    ];
    expect(names(textModel)).toEqual(['read', 'write']);
    expect(names(null)).toEqual(['read', 'write']);
    expect(names({ ...textModel, toolCalling: false })).toEqual([]);
  });

  it.each<[Partial<ToolSpec>, ToolSpec['concurrency'], ToolSpec['truncation']]>([
    [{ origin: 'builtin', concurrency: 'parallel', truncation: 'opt_out' }, 'parallel', 'opt_out'],
    [{ origin: 'builtin', concurrency: 'exclusive' }, 'exclusive', 'bounded'],
    [{ origin: 'mcp', action: 'mcp', concurrency: 'parallel', truncation: 'opt_out' }, 'parallel', 'bounded'],
    [
      { origin: 'plugin', action: 'plugin', concurrency: 'parallel', truncation: 'opt_out' },
      'exclusive',
      'bounded',
    ],
    [{ origin: 'made up' as 'mcp', concurrency: 'parallel', truncation: 'opt_out' }, 'exclusive', 'bounded'],
    [{ concurrency: 'whenever' as 'parallel' }, 'exclusive', 'bounded'],
    [{ truncation: 'opt_out', output: { kind: 'named', streams: ['a'] } }, 'parallel', 'bounded'],
  ])('grants %j only %s and %s [OUT-18] [SCH-1] [SCH-2]', (claims, concurrency, truncation) => {
    expect(granted(claims)).toEqual({ concurrency, truncation });
  });

  it('runs a plugin alone and keeps its output bounded, whatever it claims [OUT-18] [SCH-2]', async () => {
    const plugin = fakeTool({
      name: 'plugin',
      origin: 'plugin',
      action: 'plugin',
      truncation: 'opt_out',
      execute: async () => said('x'),
    });
    const slow = deferred();
    const builtin = fakeTool({ name: 'slow', execute: () => slow.promise.then(() => said('')) });
    const { run, log } = turnFixture([]);
    const outcome = run([callOf('plugin'), callOf('slow')], {
      tools: publishedTools([plugin, builtin], { rules, model: null }),
    });
    await flush();
    expect(log.of('tool_call_terminated')).toEqual([]);
    slow.resolve();
    expect((await outcome).reports[0]).toMatchObject({ text: 'x', retained_output: { incomplete: false } });
  });

  it('lets tools of MCP servers overlap, and leaves the mutex of a server to the server [SCH-6] [SCH-2]', async () => {
    const running: string[] = [];
    const ends = new Map(['a', 'b', 'c'].map((name) => [name, deferred()]));
    const servers = new KeyLock();
    const tool = (name: string, server: string) =>
      fakeTool({
        name,
        origin: 'mcp',
        action: 'mcp',
        execute: async (_context, signal) => {
          const unlock = await servers.acquire(server, signal);
          running.push(name);
          await ends.get(name)!.promise;
          unlock();
          return said(name);
        },
      });
    const tools = publishedTools([tool('a', 'one'), tool('b', 'one'), tool('c', 'two')], {
      rules,
      model: null,
    });
    const outcome = turnFixture([]).run([callOf('a'), callOf('b'), callOf('c')], { tools });
    await flush();
    expect(running).toEqual(['a', 'c']);
    for (const end of ends.values()) end.resolve();
    expect((await outcome).reports.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    expect(running).toEqual(['a', 'c', 'b']);
  });

  it('refuses two tools of one name, published or not', () => {
    const tools = [fakeTool({ action: 'bash' }), fakeTool({})];
    expect(() => publishedTools(tools, { rules, model: null })).toThrow(
      expect.objectContaining({ code: 'ENGINE_TOOL_NAME_TAKEN', message: expect.stringContaining('"tool"') }),
    );
  });

  it('passes names, descriptions and schemas on as they are [ARG-6] [ARG-4]', () => {
    const description = 'Calls of one turn do not see each other’s effects.\n';
    const parameters = { type: 'object', properties: { a: { type: 'string', description: 'x' } } };
    const tools = publishedTools([fakeTool({ description, parameters })], { rules, model: null });
    expect(toolDefinitions(tools)).toEqual([{ name: 'tool', description, parameters }]);
  });

  it('keeps a tool that is an object with state of its own', async () => {
    class Counting {
      readonly spec = fakeTool({}).spec;
      #count = 0;

      async prepare(): ReturnType<ReturnType<typeof fakeTool>['prepare']> {
        this.#count++;
        return {
          permission: { action: 'read', label: '' },
          operation: {},
          execute: async () => said(String(this.#count)),
        };
      }
    }
    const tools = publishedTools([new Counting()], { rules, model: null });
    expect((await turnFixture([]).run([callOf('tool')], { tools })).reports[0]!.text).toBe('1');
  });
});
