import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { followLines } from './follow-lines.ts';

describe('followLines', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentd-follow-'));
  });
  afterEach(async () => rm(folder, { recursive: true }));

  it('waits for the end of a line, and keeps characters whole that come in pieces [CLI-1]', async () => {
    const file = join(folder, 'log');
    const long = 'é'.repeat(100_000);
    await writeFile(file, `one\n\n${long}\ntw`);
    const stop = new AbortController();
    const lines = followLines(file, stop.signal);
    expect((await lines.next()).value).toBe('one');
    expect((await lines.next()).value).toBe(long);
    const bytes = Buffer.from('o é\n');
    const next = lines.next();
    await appendFile(file, bytes.subarray(0, 3));
    await appendFile(file, bytes.subarray(3));
    expect((await next).value).toBe('two é');
    const last = lines.next();
    stop.abort();
    expect(await last).toEqual({ value: undefined, done: true });
  });
});
