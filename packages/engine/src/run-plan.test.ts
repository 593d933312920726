import { describe, expect, it } from '@jest/globals';
import type { Tool, ToolProvider } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import { engineHarness, instantTool, payloadsOf, runToEnd } from './testing/engine-harness.ts';

const named = (name: string): Tool => {
  const tool = instantTool();
  return { ...tool, spec: { ...tool.spec, name } };
};

describe('tools that come and go while a run is under way', () => {
  it('are as they stand before each request; a call of a tool that went is not_published [MCP-1] [MCP-4]', async () => {
    const sets = [[named('one')], [named('one'), named('two')], [named('two')]];
    let asked = 0;
    const provider: ToolProvider = {
      id: 'changing',
      tools: async () => sets[0] ?? [],
      refresh: async () => sets[asked++] ?? sets[2] ?? [],
    };
    const call = (tool: string, id: string) => ({ id, tool, args: { label: id } });
    const { create, model, shown } = engineHarness({
      turns: [
        turnParts('', [call('one', 'a')]),
        turnParts('', [call('two', 'b')]),
        turnParts('', [call('one', 'c')]),
        turnParts('Done.'),
      ],
      providers: [provider],
    });
    await runToEnd(await create());
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['one'],
      ['one', 'two'],
      ['two'],
      ['two'],
    ]);
    const ends = payloadsOf(shown, 'tool_call_terminated').map(({ outcome, error }) => [
      outcome,
      error?.code,
    ]);
    expect(ends).toEqual([
      ['completed', undefined],
      ['completed', undefined],
      ['failed', 'not_published'],
    ]);
  });
});
