import { describe, expect, it } from '@jest/globals';
import { callOf, fakeTool, scriptedApprover, turnFixture, type ToolInit } from './testing/turn-fixture.ts';

const standsFor = { tool: 'a_echo', args: { x: 1 } };
const relay = (init: ToolInit = {}) =>
  fakeTool({ name: 'relay', action: 'mcp', origin: 'mcp', label: 'a_echo', standsFor, ...init });
const call = callOf('relay', { tool: 'a_echo', arguments: { x: 1 } });

describe('a call that stands for another', () => {
  it('is logged as that one [PERM-10]', async () => {
    const { run, log } = turnFixture([relay()]);
    const { reports } = await run([call]);
    expect(reports).toMatchObject([{ outcome: 'completed', text: 'ran relay' }]);
    expect(log.of('tool_call_started')).toMatchObject([
      { provider_call_id: 'call_relay', ...standsFor, action: 'mcp', label: 'a_echo' },
    ]);
  });

  it('is asked about as that one [PERM-6]', async () => {
    const { approver, questions } = scriptedApprover([{ decision: 'once' }]);
    const { run } = turnFixture([relay()], { approver });
    const asking = { document: [{ action: 'mcp', pattern: 'a_*', effect: 'ask' } as const], overlay: [] };
    await run([call], { rules: asking });
    expect(questions).toMatchObject([{ tool: 'a_echo', request: { action: 'mcp', label: 'a_echo' } }]);
  });

  it.each<[string, ToolInit, string]>([
    ['of a tool of another origin', { origin: 'plugin', action: 'plugin' }, 'is no tool of MCP servers'],
    ['for a name that no tool has', { standsFor: { tool: '', args: {} } }, 'standsFor.tool'],
  ])('is refused %s, and logged as what was called', async (_what, init, problem) => {
    const { run, log } = turnFixture([relay(init)]);
    const { reports } = await run([call]);
    expect(reports[0]).toMatchObject({ outcome: 'failed', error: { code: 'execution_failed' } });
    expect(reports[0]!.error!.message).toContain(problem);
    expect(log.of('tool_call_started')).toMatchObject([{ tool: 'relay', args: call.input }]);
  });
});
