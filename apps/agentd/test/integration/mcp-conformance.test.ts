import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpServer } from './mcp-bench.ts';
import { surroundingsOf, Workbench } from './workbench.ts';

/**
 * The server scenarios of the official suite for 2025-11-25 that need no fixture. All others call tools, or read resources
 * and prompts, of a made-up server by name (`test_simple_text`, `test://static-text`, …), which agentd does not serve.
 */
const SCENARIOS = [
  'server-initialize',
  'server-session-lifecycle',
  'ping',
  'logging-set-level',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

const require = createRequire(import.meta.url);
const SUITE = require.resolve('@modelcontextprotocol/conformance/dist/index.js');

let bench: Workbench;
let server: Awaited<ReturnType<typeof httpServer>>;
beforeAll(async () => {
  bench = await Workbench.create();
  server = await httpServer(bench);
});
afterAll(async () => {
  await server.stop();
  await bench[Symbol.asyncDispose]();
});

/** One by one: run together, the scenarios of the suite disturb each other on a machine with few cores. */
async function verdict(scenario: string): Promise<string> {
  const args = ['server', '--url', server.url.href, '--scenario', scenario, '--spec-version', '2025-11-25'];
  const run = spawn(process.execPath, [SUITE, ...args], surroundingsOf(bench));
  const [said, [code]] = await Promise.all([text(run.stdout), once(run, 'close')]);
  return `${String(code)} ${/Passed: .*/.exec(said)?.[0] ?? said}`;
}

describe('agentd mcp in the official conformance suite', () => {
  it('is judged by the version that is pinned [MCP-8]', async () => {
    const manifest = await readFile(join(SUITE, '../../package.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ version: '0.2.0-alpha.12' });
  });

  it.each(SCENARIOS)('passes %s [MCP-8]', async (scenario) => {
    expect(await verdict(scenario)).toMatch(/^0 Passed: (\d+)\/\1, 0 failed, 0 warnings$/);
  });
});
