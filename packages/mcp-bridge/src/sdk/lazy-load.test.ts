import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Imports the package, and tells which modules of the SDK came along. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const seen = [];
registerHooks({ resolve: (name, context, next) => { if (name.startsWith('@modelcontextprotocol/')) seen.push(name); return next(name, context); } });
await import('@agentd/mcp-bridge');
await import('@agentd/mcp-bridge/file');
console.log(JSON.stringify(seen));
await import('./src/sdk/open-connection.ts');
console.log(seen.length > 0);
`;

describe('the SDK', () => {
  it('is loaded at the first connection, and not before [MCP-1]', async () => {
    const { stdout } = await run(
      process.execPath,
      ['--conditions=@agentd/source', '--input-type=module', '-e', PROGRAM],
      { cwd: `${import.meta.dirname}/../..` },
    );
    expect(stdout).toBe('[]\ntrue\n');
  });
});
