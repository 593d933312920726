// Runs one command, `{command, input?}` as JSON in the first argument, and prints as JSON what came of it: the start
// of each stream, the bytes of all, the closing line, and how far the memory rose above idle.
import { systemClock } from '@agentd/contract';
import type { ToolProgress } from '@agentd/contract';
import { createBashTool } from '../bash-tool.ts';

/** Enough for a test to compare; the rest is only counted. */
const KEPT_CHARACTERS = 1000;

const { command, input } = JSON.parse(process.argv[2] ?? '') as { command: string; input?: string };
const tool = createBashTool({ environment: process.env, withheld: [], clock: systemClock });
const signal = new AbortController().signal;
const session = { id: 's1', cwd: '/', agent: 'default' };
const args = { command, interactive: input !== undefined };
const call = await tool.prepare(args, { callId: 'c1', session, turn: {}, model: null }, signal);

const text: Record<string, string> = { stdout: '', stderr: '' };
let bytes = 0;
let peak = 0;
const idle = process.memoryUsage().rss;

const report = async ({ chunks = [] }: ToolProgress): Promise<void> => {
  for (const { stream = '', text: more } of chunks) {
    bytes += Buffer.byteLength(more);
    const kept = text[stream] ?? '';
    if (kept.length < KEPT_CHARACTERS) text[stream] = (kept + more).slice(0, KEPT_CHARACTERS);
  }
  peak = Math.max(peak, process.memoryUsage.rss());
  await new Promise(setImmediate);
};

async function* typed(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(input);
}

const stdin = input === undefined ? null : typed();
const { closingLine } = await call.execute({ callId: 'c1', report, stdin }, signal);
process.stdout.write(JSON.stringify({ text, bytes, closingLine, extraMiB: (peak - idle) / 1024 ** 2 }));
