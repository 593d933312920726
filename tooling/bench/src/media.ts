import { createHash } from 'node:crypto';
import { formatOf, inspect } from '@agentd/media-delivery';
import { largeMediaSamples } from '@agentd/media-delivery/testing';
import { inTurn, median } from './measure.ts';

const MIB = 1024 * 1024;
const SIZE = 16 * MIB;
const PAIRS = 5;

/** How fast a file of each kind is validated, against SHA-256 over the same bytes. */
export async function media(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { title, mimeType, bytes } of largeMediaSamples(SIZE)) {
    const format = formatOf(mimeType);
    if (format === undefined) throw new Error(`no format of ${mimeType}`);
    const pairs = await inTurn(
      PAIRS,
      async () =>
        elapsedMs(() => {
          const found = inspect(bytes, format);
          if (!found.ok) throw new Error(`${title}: ${found.problem}`);
        }),
      async () => elapsedMs(() => createHash('sha256').update(bytes).digest()),
    );
    const own = median(pairs.map(([walk]) => walk));
    const ratio = median(pairs.map(([walk, hash]) => hash / walk));
    const mibs = bytes.length / MIB;
    lines.push(
      `${title}: ${mibs.toFixed(1)} MiB in ${own.toFixed(1)} ms, ${((bytes.length / 1e6 / own) * 1000).toFixed(0)} MB/s, ${ratio.toFixed(1)} times as fast as SHA-256`,
    );
  }
  return lines;
}

function elapsedMs(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}
