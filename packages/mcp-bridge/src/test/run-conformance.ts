// `node run-conformance.ts [SCENARIO …]`: client scenarios of the official suite, one after another, through the bridge. Says
// one line for each that passes, what the suite said for one that does not, and exits with 1 if there is any.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { clientScenarios } from './conformance-scenarios.ts';

const REVISION = '2025-11-25';

/** For the client; whatever hangs beside it is ended later. */
const CLIENT_LIMIT_MS = 60_000;
const SUITE_LIMIT_MS = CLIENT_LIMIT_MS + 30_000;

/** Something was checked, and all of it passed. */
const ALL_PASSED = /Passed: ([1-9]\d*)\/\1, 0 failed/;

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
    const limits = { timeout: SUITE_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
    execFile(
      process.execPath,
      [...args, '--timeout', `${CLIENT_LIMIT_MS}`],
      limits,
      (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        const summary = error === null ? ALL_PASSED.exec(output)?.[0] : undefined;
        resolve({ passed: summary !== undefined, summary: summary ?? output.slice(-4000) });
      },
    );
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
