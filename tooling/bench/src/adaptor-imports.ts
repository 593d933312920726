import { resolve } from 'node:path';
import { ADAPTORS } from '@agentd/model-gateway';
import { inTurn, median, ms, timeRun } from './measure.ts';

const PAIRS = 7;
const GATEWAY = resolve(import.meta.dirname, '../../../packages/model-gateway');

const OPEN = `
  const [adaptor] = process.argv.slice(1);
  const { createModelGateway } = await import('@agentd/model-gateway');
  const { systemClock } = await import('@agentd/contract');
  const own = { adaptor, baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'none' };
  const gateway = createModelGateway({ providers: { own }, environment: {}, clock: systemClock });
  if (adaptor !== undefined) await gateway.open('own/any-model');`;

/** What an adaptor costs when its first model is opened: a fresh process with it against one without. */
export async function adaptorImports(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const adaptor of ADAPTORS.filter((id) => id !== 'scripted')) {
    const pairs = await inTurn(
      PAIRS,
      () => opened(adaptor),
      () => opened(),
    );
    const cost = median(pairs.map(([own, bare]) => own.wallMs - bare.wallMs));
    const memory = median(pairs.map(([own, bare]) => own.peakRssMib - bare.peakRssMib));
    const ratio = median(pairs.map(([own, bare]) => own.wallMs / bare.wallMs));
    lines.push(
      `${adaptor}: ${ms(cost)} and ${memory.toFixed(0)} MiB more, ${ratio.toFixed(2)} times a gateway without a model`,
    );
  }
  return lines;
}

async function opened(...adaptor: readonly string[]) {
  const command = [process.execPath, '--input-type=module', '--eval', OPEN, ...adaptor];
  const figures = await timeRun(command, { cwd: GATEWAY });
  if (figures.exitCode !== 0) throw new Error(`${adaptor.join('')} could not be opened: ${figures.stderr}`);
  return figures;
}
