// `node run-conformance.ts [SCENARIO …]`: client scenarios of the official suite, one after another, through the bridge.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { clientScenarios } from './conformance-scenarios.ts';

const REVISION = '2025-11-25';

export interface ScenarioOutcome {
  readonly passed: boolean;
  /** `Passed: 5/5, 0 failed`, or the end of what the suite said. */
  readonly summary: string;
}

/** Runs one scenario. The suite starts the client through a shell and hands it the address of its own mock server. */
export async function runScenario(scenario: string): Promise<ScenarioOutcome> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
  const suite = join(dirname(manifest), 'dist', 'index.js');
  const client = join(import.meta.dirname, 'conformance-client.ts');
  const command = `${process.execPath} --conditions=@agentd/source ${client}`;
  const args = [suite, 'client', '--command', command, '--scenario', scenario, '--spec-version', REVISION];
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, '--timeout', '60000'], (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      const summary = /Passed: \d+\/\d+, \d+ failed/.exec(output)?.[0] ?? output.slice(-2000);
      resolve({ passed: error === null, summary: error === null ? summary : output.slice(-4000) });
    });
  });
}

if (process.argv[1] === import.meta.filename) {
  const asked = process.argv.slice(2);
  let failed = 0;
  for (const scenario of asked.length > 0 ? asked : clientScenarios) {
    const { passed, summary } = await runScenario(scenario);
    failed += passed ? 0 : 1;
    process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${scenario}: ${summary}\n`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}
