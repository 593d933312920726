import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTD, inTurn, median, ms, timeRun } from './measure.ts';

/** `bash` that prints 200 MiB through the whole pipeline, against `cmd | tee file | sha256sum`. */
export function capture(): Promise<readonly string[]> {
  return captureFigures(200, 5);
}

/** The same with 1 GiB (ART-15). */
export function captureOneGibibyte(): Promise<readonly string[]> {
  return captureFigures(1024, 3);
}

async function captureFigures(mebibytes: number, pairCount: number): Promise<readonly string[]> {
  const line = 'a line of output like any other, long enough to be a line';
  const command = `yes '${line}' | head -c ${mebibytes * 1024 * 1024}`;
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const env = { ...process.env, AGENTD_HOME: join(folder, 'home') };
  const call = (bash: string) => timeRun(bashCall(folder, bash), { env });
  try {
    const idle = await call('true');
    const pairs = await inTurn(
      pairCount,
      () => call(command),
      () => timeRun(['bash', '-c', `${command} | tee ${join(folder, 'tee.out')} | sha256sum`]),
    );
    const failed = pairs.find(([run]) => run.exitCode !== 0);
    if (failed !== undefined) throw new Error(`the call failed: ${failed[0].stderr}`);
    const speed = median(pairs.map(([run, tee]) => tee.wallMs / run.wallMs));
    const net = median(pairs.map(([run, tee]) => tee.wallMs / Math.max(1, run.wallMs - idle.wallMs)));
    const peak = Math.max(...pairs.map(([run]) => run.peakRssMib));
    return [
      `${mebibytes} MiB: ${ms(median(pairs.map(([run]) => run.wallMs)))}, with tee and sha256sum ${ms(median(pairs.map(([, tee]) => tee.wallMs)))}`,
      `speed: ${speed.toFixed(2)} of tee | sha256sum; ${net.toFixed(2)} without the start of the process (${ms(idle.wallMs)})`,
      `peak memory: ${peak.toFixed(0)} MiB, ${(peak - idle.peakRssMib).toFixed(0)} MiB above the same call of \`true\``,
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function bashCall(cwd: string, command: string): readonly string[] {
  return [...AGENTD, 'tools', 'call', 'bash', JSON.stringify({ command }), '--mode', 'yolo', '--cwd', cwd];
}
