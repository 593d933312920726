import { appendFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomIds } from '@agentd/contract';
import { runProgram } from './test/processes.ts';
import { BASH, SINGLE, captureAll, openStore, readPages, requestOf, sha256 } from './test/stores.ts';
import { fastTemporaryFolders, temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const newFastFolder = fastTemporaryFolders();

describe('a process that is killed in the middle of publication', () => {
  const OUT = 'output that was damaged on the disk before\n';
  const outDigest = sha256(OUT);

  /** Kills a publication before that step; resolves with whether it came to its end instead. */
  async function killedAt(step: number): Promise<boolean> {
    const { store, folder } = await openStore(await newFolder());
    await captureAll(store, requestOf(SINGLE), [{ text: 'acknowledged' }]);
    await writeFile(join(folder, outDigest), OUT.toUpperCase());
    const request = requestOf(BASH);
    const program = runProgram('kill-at-step', [folder, request.callId, String(step), OUT]);
    const printed = await program.nextLine().catch(() => null);
    const code = await program.exit;
    // Whole under every name, or the damage of before.
    for (const name of await readdir(folder)) {
      const isBlob = /^[0-9a-f]{64}$/.test(name);
      const content = isBlob ? await readFile(join(folder, name), 'utf8') : '';
      if (isBlob && content !== OUT.toUpperCase()) expect(sha256(content)).toBe(name);
    }
    expect(await readPages(store, `artifact://${sha256('acknowledged')}`)).toEqual(['acknowledged']);
    // What was not told is there to recover; what was told is there to read.
    const recovered = await store.recover(request);
    await recovered?.release();
    const uri = recovered?.retained?.reference.uri.replace('sha256/', '') ?? printed;
    if (printed !== null) expect(uri).toBe(printed);
    expect(await readPages(store, `${uri}/stdout`)).toEqual([OUT]);
    expect(await readPages(store, `${uri}/stderr`)).toEqual(['the error\n']);
    await captureAll(store, requestOf(SINGLE), [{ text: 'and storing goes on' }]);
    const left = (await readdir(folder)).filter((name) => name.startsWith('.capture-'));
    expect(left).toEqual([]);
    return code === 0;
  }

  it('at any step has lost nothing and left nothing half-written under a name [ART-1] [ART-2] [ART-10] [OUT-16]', async () => {
    let next = 1;
    let steps = 150; // More than there are: whoever breaks this does not loop for ever.
    const killOneAfterTheOther = async (): Promise<void> => {
      for (let step = next++; step < steps; step = next++) {
        if (await killedAt(step)) steps = Math.min(steps, step);
      }
    };
    await Promise.all([killOneAfterTheOther(), killOneAfterTheOther(), killOneAfterTheOther()]);
    expect(steps).toBeGreaterThan(25);
    expect(steps).toBeLessThan(150);
  });
});

describe('publication against collection', () => {
  const TEXTS = Array.from({ length: 12 }, (_, at) => `text ${at}\n`.repeat(at + 1));

  /** Publishes, refers to what was published, and gives up whole sessions, at random; knows what must be alive. */
  async function publishRounds(rounds: number, parent: string): Promise<void> {
    const { store } = await openStore(parent);
    const alive = new Map<string, string[]>();
    const logOf = (session: string): string => join(parent, 'sessions', session, 'events.jsonl');
    const random = (below: number): number => Math.floor(Math.random() * below);
    for (let round = 0; round < rounds; round += 1) {
      const session = `s${random(4)}`;
      if (random(8) === 0) {
        alive.delete(session);
        await rm(join(parent, 'sessions', session), { recursive: true, force: true });
      }
      const text = TEXTS[random(TEXTS.length)]!;
      const capture = await store.capture(requestOf(SINGLE));
      await capture.accept([{ text }]);
      const { retained, release } = await capture.finish({ incomplete: false });
      await mkdir(join(parent, 'sessions', session), { recursive: true });
      await appendFile(logOf(session), `${JSON.stringify({ id: randomIds.uuid(), retained })}\n`);
      await release();
      alive.set(session, [...(alive.get(session) ?? []), text]);
      for (const texts of alive.values()) {
        const known = texts[random(texts.length)]!;
        expect((await readPages(store, `artifact://${sha256(known)}`)).join('')).toBe(known);
      }
      await setImmediate();
    }
  }

  it('in two processes never loses what is referred to, in 2,000 rounds [ART-9] [ART-10] [ART-2]', async () => {
    const parent = await newFastFolder();
    const stop = join(parent, 'stop');
    await mkdir(join(parent, 'artifacts'));
    const janitor = runProgram('collect-loop', [join(parent, 'artifacts'), join(parent, 'sessions'), stop]);
    expect(await janitor.nextLine()).toBe('ready');
    // How soon both were at work against each other is up to the machine.
    const enough = new AbortController();
    const told = janitor.nextLine().then(() => enough.abort());
    await publishRounds(2000, parent);
    while (!enough.signal.aborted) await Promise.race([publishRounds(100, parent), told]);
    await told;
    await writeFile(stop, '');
    const counts = JSON.parse(await janitor.nextLine()) as Record<string, number>;
    expect(await janitor.exit).toBe(0);
    expect(counts['failed']).toBe(0);
    expect(counts['removed']).toBeGreaterThan(20);
    expect(counts['skipped']).toBeGreaterThan(0);
  });
});
