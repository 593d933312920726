import { createHash } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { appendFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fileLocks, logFilesUnder, openArtifactStore } from '@agentd/artifact-store';
import { DEFAULT_OUTPUT_LIMITS, randomIds, systemClock, type OutputDeclaration } from '@agentd/contract';
import { median, ms, quantile, timeRun } from './measure.ts';

type Store = Awaited<ReturnType<typeof openArtifactStore>>;

const BASH: OutputDeclaration = { kind: 'named', streams: ['stdout', 'stderr'] };
const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

async function withStore<Result>(use: (store: Store, folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  const artifacts = join(folder, 'artifacts');
  const store = await openArtifactStore({
    folder: artifacts,
    locks: fileLocks,
    clock: systemClock,
    ids: randomIds,
  });
  try {
    return await use(store, folder);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [number, Result]> {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
}

const RESULTS = 10_000;
const IN_FLIGHT = 8;

/** 10,000 results of 2 KiB, eight calls at a time, against as many plain files that are written and synced. */
export function smallResults(): Promise<readonly string[]> {
  return withStore(async (store, folder) => {
    const text = (at: number): string => `result ${at}\n`.padEnd(2048, 'x');
    const publish = async (at: number): Promise<void> => {
      const capture = await store.capture({
        callId: randomIds.uuid(),
        declaration: BASH,
        limits: DEFAULT_OUTPUT_LIMITS,
      });
      await capture.accept([{ stream: 'stdout', text: text(at) }]);
      const { retained, release } = await capture.finish({ incomplete: false });
      await release();
      if (retained === null) throw new Error('a result was not stored');
    };
    const plain = async (at: number): Promise<void> => {
      const file = await open(join(folder, `plain-${at}`), 'w');
      await file.writeFile(text(at));
      await file.sync();
      await file.close();
    };
    await inParallel(1000, (at) => publish(-at));
    const before = memory();
    const [storeMs] = await timed(() => inParallel(RESULTS, publish));
    const grown = [before, memory()];
    for (const round of [1, 2]) {
      await inParallel(RESULTS, (at) => publish(round * RESULTS + at));
      grown.push(memory());
    }
    const [plainMs] = await timed(() => inParallel(RESULTS, plain));
    return [
      `${RESULTS} results: ${ms(storeMs)}, ${((RESULTS / storeMs) * 60_000).toFixed(0)} a minute`,
      `${(storeMs / plainMs).toFixed(1)} times as long as one synced file each (each result is three blobs and a folder)`,
      `growth of memory in use with each further ${RESULTS}: ${growth(grown.map(({ used }) => used))} MiB; of resident memory: ${growth(grown.map(({ resident }) => resident))} MiB`,
    ];
  });
}

function growth(values: readonly number[]): string {
  return values
    .slice(1)
    .map((value, at) => (value - (values[at] ?? 0)).toFixed(0))
    .join(', ');
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: IN_FLIGHT }, async () => {
    while (next < count) await work(next++);
  });
  await Promise.all(workers);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** In MiB, after a collection of garbage. */
function memory(): { readonly used: number; readonly resident: number } {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: (heapUsed + external) / MIB, resident: rss / MIB };
}

/** Pages of ten lines at random offsets of 1 GiB: the first one verifies the artifact, the others cost the page. */
export function randomPages(): Promise<readonly string[]> {
  return withStore(async (store, folder) => {
    const line = `${'a line of output like any other'.padEnd(63)}\n`;
    const block = line.repeat(4096);
    const blocks = 4096;
    const capture = await store.capture({
      callId: randomIds.uuid(),
      declaration: BASH,
      limits: DEFAULT_OUTPUT_LIMITS,
    });
    for (let at = 0; at < blocks; at += 1) await capture.accept([{ stream: 'stdout', text: block }]);
    const { retained, release } = await capture.finish({ incomplete: false });
    await release();
    const digest = retained?.streams[0]?.sha256 ?? '';
    const page = (): Promise<unknown> => {
      const offset = Math.floor(Math.random() * 4096 * blocks);
      return store.page({ address: { digest, stream: null }, offset, limit: 10 }, NEVER);
    };
    const [firstMs] = await timed(page);
    const { wallMs: hashMs } = await timeRun(['sha256sum', join(folder, 'artifacts', digest)]);
    const later: number[] = [];
    for (let count = 0; count < 2000; count += 1) later.push((await timed(page))[0]);
    return [
      `first page: ${ms(firstMs)}, ${(firstMs / hashMs).toFixed(2)} times sha256sum of the 1 GiB (${ms(hashMs)})`,
      `later pages: ${ms(median(later))}, 95 % within ${ms(quantile(later, 0.95))}: 1/${(firstMs / median(later)).toFixed(0)} of the first`,
    ];
  });
}

const SESSIONS = 10_000;

/** Passes of the janitor over 10,000 sessions: the first, then unchanged ones, then one with a session that has grown. */
export function janitor(): Promise<readonly string[]> {
  return withStore(async (store, folder) => {
    const sessions = join(folder, 'sessions');
    for (let at = 0; at < SESSIONS; at += 1) writeSession(folder, at);
    const logs = () => logFilesUnder(sessions, 'events.jsonl');
    const pass = () => timed(() => store.collect({ logs }, NEVER));
    const [firstMs, first] = await pass();
    if (first.kind !== 'collected') throw new Error(`${first.kind}: ${first.reason}`);
    const second = [await pass(), await pass(), await pass()].map(([wallMs]) => wallMs);
    await appendFile(join(sessions, 'session-1', 'events.jsonl'), '{"type":"more"}\n');
    const [grownMs] = await pass();
    const { removed, referenced } = first.tallies;
    return [
      `${SESSIONS} sessions, ${referenced.count} artifacts kept, ${removed.count} removed: first pass ${ms(firstMs)}`,
      `unchanged: ${ms(median(second))}, ${(median(second) / firstMs).toFixed(3)} of the first (must be under 0.1)`,
      `one session grown: ${ms(grownMs)}, ${(grownMs / firstMs).toFixed(3)} of the first`,
    ];
  });
}

/** A session of some twenty events whose one call printed to stdout; and a blob that nothing refers to. */
function writeSession(folder: string, at: number): void {
  const store = (content: string): string => {
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(folder, 'artifacts', digest), content);
    return digest;
  };
  const reference = (digest: string) => ({ uri: `artifact://sha256/${digest}` });
  const out = store(`output of session ${at}\n`);
  const manifest = store(
    JSON.stringify({ kind: 'output_manifest', streams: [{ name: 'stdout', reference: reference(out) }] }),
  );
  utimesSync(join(folder, 'artifacts', store(`garbage of session ${at}\n`)), 1, 1);
  const event = (type: string, payload: object): string =>
    `${JSON.stringify({ seq: 1, session_id: randomIds.uuid(), timestamp: '2026-01-01T00:00:00.000Z', payload: { type, ...payload } })}\n`;
  const talk = Array.from({ length: 20 }, () => event('turn', { text: 'words of a model '.repeat(60) }));
  const session = join(folder, 'sessions', `session-${at}`);
  mkdirSync(session, { recursive: true });
  const call = event('tool_call_completed', { retained_output: { reference: reference(manifest) } });
  writeFileSync(join(session, 'events.jsonl'), [...talk, call].join(''));
}
