// A process of its own for one test: what pages of a 200 MB file cost in memory and in bytes read.
import { readFileSync } from 'node:fs';
import { open, utimes } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { createReadTool } from '../read/read-tool.ts';
import { callTool, contextIn, scratchFolder, textOf } from './calls.ts';

const MIB = 1024 * 1024;
const field = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(file, 'utf8'))?.[1]);
const highWater = (): number => field('/proc/self/status', /^VmHWM:\s+(\d+) kB$/m) / 1024;
const bytesRead = (): number => field('/proc/self/io', /^rchar: (\d+)$/m);

await using folder = await scratchFolder();
const path = join(folder.path, 'large.log');
const handle = await open(path, 'w');
const rows = Buffer.from(`${'row'.padEnd(99)}\n`.repeat(10_000));
for (let part = 0; part < 200; part++) await handle.write(rows);
await handle.close();
await utimes(path, 1, 1);
// A file that changed within the last two seconds is not remembered.
await pause(2_100);

const tool = createReadTool({ artifacts: null, home: folder.path });
const lines: string[] = [];
const readMib: number[] = [];
await callTool(tool, { filePath: path, limit: 1 }, contextIn(folder.path));
globalThis.gc?.();
const before = highWater();
for (const offset of [1_900_000, 1_900_000, 900_000]) {
  const start = bytesRead();
  const page = textOf(await callTool(tool, { filePath: path, offset, limit: 100 }, contextIn(folder.path)));
  readMib.push((bytesRead() - start) / MIB);
  lines.push(/^\d+: \w+/m.exec(page)?.[0] ?? '');
}
process.stdout.write(JSON.stringify({ lines, readMib, grownMib: highWater() - before }));
