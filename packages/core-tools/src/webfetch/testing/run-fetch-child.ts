import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FetchReport, FetchTask } from './fetch-child.ts';

const SCRIPT = fileURLToPath(new URL('./fetch-child.ts', import.meta.url));

/** Halves the start of a process that runs from source. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../../../node_modules/.cache/node', import.meta.url));

/** Runs `fetch-child.ts` to its end; it must end by itself. */
export async function runFetchChild(
  task: FetchTask,
  variables: NodeJS.ProcessEnv = {},
): Promise<FetchReport> {
  const child = spawn(process.execPath, ['--max-semi-space-size=1', '--conditions=@agentd/source', SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...variables },
  });
  child.stdin.end(JSON.stringify(task));
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return JSON.parse(output) as FetchReport;
}
