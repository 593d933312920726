import { resolve } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ADAPTORS } from '@agentd/model-gateway';
import { median } from './measure.ts';

const ROUNDS = 3;
const MIB = 1024 * 1024;
const SIZE = 20 * MIB;
const GATEWAY = resolve(import.meta.dirname, '../../../packages/model-gateway');

/** One request with an image in a fresh process: until the body is handed to fetch, and how far memory rose for it. */
const BUILD = `
  const [adaptor, size] = process.argv.slice(1);
  const { readFileSync } = await import('node:fs');
  const { createModelGateway } = await import('@agentd/model-gateway');
  const { systemClock } = await import('@agentd/contract');
  const bytes = Buffer.alloc(Number(size), 'image');
  const sha256 = 'a'.repeat(64);
  const attachment = { mime_type: 'image/png', byte_length: bytes.length, sha256, filename: 'a.png', reference: { uri: 'artifact://sha256/' + sha256 } };
  const placer = { place: (messages) => messages.map(({ role, content, attachments = [] }) => ({ role, content: [...content, ...attachments.map((file) => ({ type: 'file', attachment: file, filename: 'a.png' }))] })) };
  const sent = [];
  const fetch = async (_url, { body }) => { sent.push([performance.now(), body.length]); throw new Error('far enough'); };
  const own = { adaptor, baseUrl: 'http://127.0.0.1:1/v1', ...(adaptor === 'google-vertex-gemini' ? { accessToken: 'none' } : { apiKey: 'none' }) };
  const gateway = createModelGateway({ providers: { own }, environment: {}, clock: systemClock, fetch, media: { placer, blobs: { blob: async () => bytes } } });
  const client = await gateway.open('own/any-model');
  const ask = async (attachments) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Look.' }], attachments }];
    const started = performance.now();
    const request = { system: 'Be brief.', messages, tools: [], session: { id: 's', agent: 'a', turns: [] } };
    await (async () => { for await (const _part of client.stream(request, new AbortController().signal)); })().catch(() => undefined);
    const [at, length] = sent.pop();
    return { elapsedMs: at - started, length };
  };
  const highWater = () => Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  await ask([]);
  const before = highWater();
  const { elapsedMs, length } = await ask([attachment]);
  const riseMib = highWater() - before;
  const text = performance.now();
  JSON.stringify({ data: bytes.toString('base64') });
  console.log(JSON.stringify({ elapsedMs, length, riseMib, leastMs: performance.now() - text }));`;

interface Built {
  readonly elapsedMs: number;
  readonly length: number;
  readonly riseMib: number;
  /** Base64 and JSON of the same bytes, and nothing else. */
  readonly leastMs: number;
}

/** What a request with an image of 20 MiB costs before it leaves, over every wire, against base64 and JSON alone. */
export async function imageRequest(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const adaptor of ADAPTORS.filter((id) => id !== 'scripted')) {
    const rounds: Built[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await build(adaptor));
    const figure = (of: (built: Built) => number): number => median(rounds.map(of));
    const rise = figure(({ riseMib }) => riseMib);
    const bodies = figure(({ riseMib, length }) => (riseMib * MIB) / length);
    lines.push(
      `${adaptor}: ${figure(({ elapsedMs }) => elapsedMs).toFixed(0)} ms, ${figure(({ elapsedMs, leastMs }) => elapsedMs / leastMs).toFixed(1)} times base64 and JSON alone; ` +
        `${rise.toFixed(0)} MiB more at the peak, ${bodies.toFixed(1)} times the body`,
    );
  }
  return lines;
}

async function build(adaptor: string): Promise<Built> {
  const args = ['--input-type=module', '--eval', BUILD, adaptor, String(SIZE)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: GATEWAY });
  return JSON.parse(stdout) as Built;
}
