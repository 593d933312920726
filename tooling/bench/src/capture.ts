import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTD, inTurn, median, ms, timeRun } from './measure.ts';

const MIB = 200;
const COMMAND = `yes 'a line of output like any other, long enough to be a line' | head -c ${MIB * 1024 * 1024}`;

/** `bash` that prints 200 MiB through the whole pipeline, against `cmd | tee file | sha256sum`. */
export async function capture(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const env = { ...process.env, AGENTD_HOME: join(folder, 'home') };
  const call = (command: string): Promise<Awaited<ReturnType<typeof timeRun>>> =>
    timeRun(
      [...AGENTD, 'tools', 'call', 'bash', JSON.stringify({ command }), '--mode', 'yolo', '--cwd', folder],
      { env },
    );
  try {
    const idle = await call('true');
    const pairs = await inTurn(
      5,
      () => call(COMMAND),
      () => timeRun(['bash', '-c', `${COMMAND} | tee ${join(folder, 'tee.out')} | sha256sum`]),
    );
    const failed = pairs.find(([run]) => run.exitCode !== 0);
    if (failed !== undefined) throw new Error(`the call failed: ${failed[0].stderr}`);
    const speed = median(pairs.map(([run, tee]) => tee.wallMs / run.wallMs));
    const net = median(pairs.map(([run, tee]) => tee.wallMs / Math.max(1, run.wallMs - idle.wallMs)));
    const peak = Math.max(...pairs.map(([run]) => run.peakRssMib));
    return [
      `${MIB} MiB: ${ms(median(pairs.map(([run]) => run.wallMs)))}, with tee and sha256sum ${ms(median(pairs.map(([, tee]) => tee.wallMs)))}`,
      `speed: ${speed.toFixed(2)} of tee | sha256sum; ${net.toFixed(2)} without the start of the process (${ms(idle.wallMs)})`,
      `peak memory: ${peak.toFixed(0)} MiB, ${(peak - idle.peakRssMib).toFixed(0)} MiB above the same call of \`true\``,
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
