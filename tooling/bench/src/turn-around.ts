import { openaiTurn, startModelServer } from '@agentd/model-gateway/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTD, median, ms, quantile, timeRun } from './measure.ts';
import { localProvider } from './local-provider.ts';

const TURNS = 210;

/** Turns around the 20th and the 200th: the median of a few, because one alone is noise. */
const EARLY: readonly [number, number] = [15, 26];
const LATE: readonly [number, number] = [195, 206];

/** From the last byte of the model's answer to the arrival of the next request, with one small file read a turn. */
export async function turnAround(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const server = await startModelServer();
  try {
    await writeFile(join(folder, 'small.txt'), 'a small file\n'.repeat(20));
    const config = await localProvider(folder, `${server.url}/v1`);
    const waits = await waitsOf(server, () =>
      timeRun(
        [
          ...AGENTD,
          'run',
          'go',
          '--model',
          'local/any',
          '--config',
          config,
          '--max-turns',
          String(TURNS + 1),
          '--cwd',
          folder,
        ],
        { env: { ...process.env, AGENTD_HOME: join(folder, 'home') } },
      ),
    );
    const first50 = waits.slice(0, 50);
    const [early, late] = [EARLY, LATE].map(([from, to]) => median(waits.slice(from, to)));
    if (early === undefined || late === undefined) throw new Error('too few turns');
    return [
      `first 50 turns: median ${ms(median(first50))}, p95 ${ms(quantile(first50, 0.95))}`,
      `around the 20th turn ${ms(early)}, around the 200th ${ms(late)}: ${(late / early).toFixed(2)} times`,
    ];
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Server = Awaited<ReturnType<typeof startModelServer>>;

async function waitsOf(server: Server, run: () => ReturnType<typeof timeRun>): Promise<readonly number[]> {
  const waits: number[] = [];
  let answered = Number.NaN;
  server.reply((request, index) => {
    if (index > 0) waits.push(request.arrivedAt - answered);
    void request.finished.then(() => (answered = performance.now()));
    const call = { id: `call_${index}`, name: 'read', args: { filePath: 'small.txt' } };
    return index < TURNS ? openaiTurn({ calls: [call] }) : openaiTurn({ text: 'done' });
  });
  const { exitCode, stderr } = await run();
  if (exitCode !== 0) throw new Error(`the run failed: ${stderr}`);
  return waits;
}
