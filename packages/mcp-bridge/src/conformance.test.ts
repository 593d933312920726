import { describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { clientScenarios } from './test/conformance-scenarios.ts';
import { runScenario } from './test/run-conformance.ts';

// Real processes, on a machine that may have others.
jest.setTimeout(120_000);

/** A few that depend on no timing; `npm run conformance` in this package runs all of them, which takes minutes. */
const QUICK = ['tools_call', 'auth/scope-step-up'] as const;

describe('the official conformance suite', () => {
  it('names the scenarios that we run as the ones to pass [MCP-8]', () => {
    const requirements = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/conformance/requirements/2025-11-25.yaml',
    );
    const client = /^client:\n((?:(?: .*)?\n)*)/m.exec(readFileSync(requirements, 'utf8'))?.[1] ?? '';
    const named = [...client.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
    expect(named.toSorted()).toEqual([...clientScenarios].toSorted());
    expect(named).toHaveLength(18);
  });

  it.each(QUICK)('is passed by the bridge: %s [MCP-8] [MCP-6]', async (scenario) => {
    const { passed, summary } = await runScenario(scenario);
    expect(summary).toMatch(/^Passed: (\d+)\/\1, 0 failed$/);
    expect(passed).toBe(true);
  });
});
