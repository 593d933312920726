import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTD, inTurn, median, ms, timeRun } from './measure.ts';
import { localProvider } from './local-provider.ts';

const PAIRS = 10;
const BARE_NODE = [process.execPath, '-e', '0'];

async function against(what: string, command: () => Promise<number>): Promise<string> {
  const pairs = await inTurn(PAIRS, command, async () => (await timeRun(BARE_NODE)).wallMs);
  const ratio = median(pairs.map(([own, bare]) => own / bare));
  return `${what}: ${ms(median(pairs.map(([own]) => own)))}, ${ratio.toFixed(2)} times \`node -e 0\``;
}

/** `--version`, `tools list`, and the time from start to the first byte of the first model request. */
export async function startUp(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const env = { ...process.env, AGENTD_HOME: join(folder, 'home') };
  const wall = async (...args: readonly string[]): Promise<number> => {
    const { wallMs, exitCode, stderr } = await timeRun([...AGENTD, ...args], { env, cwd: folder });
    if (exitCode !== 0) throw new Error(`agentd ${args.join(' ')} failed: ${stderr}`);
    return wallMs;
  };
  try {
    return [
      await against('agentd --version', () => wall('--version')),
      await against('agentd tools list', () => wall('tools', 'list', '--json')),
      await against('agentd run, first model request', () => firstRequest(folder, env)),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Milliseconds from the start of `agentd run` until its first request arrives. */
async function firstRequest(folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  let arrived = Number.NaN;
  const server = createServer((request, response) => {
    arrived = performance.now();
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"measured"}}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    const { port } = server.address() as AddressInfo;
    const config = await localProvider(folder, `http://127.0.0.1:${port}/v1`);
    const started = performance.now();
    await timeRun([...AGENTD, 'run', 'go', '--model', 'local/any', '--config', config], { env, cwd: folder });
    return arrived - started;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
