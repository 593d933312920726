import { describe, expect, it } from '@jest/globals';
import { deferred, manualClock } from '@agentd/contract/testing';
import { eventSchemas, type EnginePayload } from '../events.ts';
import { FileEventLog } from './event-log.ts';
import type { LogFile } from './log-file.ts';
import { input, RUN, SESSION } from './testing/sample-events.ts';

/** A file in memory that tells what was done to it, and fails or waits when the test says so. */
function memoryFile(faults: { append?: () => void; sync?: () => Promise<void> } = {}) {
  const steps: string[] = [];
  const chunks: Uint8Array[] = [];
  const file: LogFile = {
    append: async (data) => {
      steps.push('append');
      faults.append?.();
      chunks.push(data);
    },
    sync: async () => {
      steps.push('sync');
      await faults.sync?.();
    },
    close: async () => void steps.push('close'),
  };
  const lines = (): string[] => Buffer.concat(chunks).toString('utf8').split('\n').slice(0, -1);
  return { file, steps, lines };
}

function newLog(file: LogFile, lastSeq = 0) {
  const clock = manualClock();
  const log = new FileEventLog({ file, sessionId: SESSION, clock, engineVersion: '1.2.3', lastSeq });
  return { clock, log };
}

const noSpace = () => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};

describe('FileEventLog', () => {
  it('writes one JSON object a line with the envelope fields [SES-1] [EVT-1]', async () => {
    const { file, lines } = memoryFile();
    const { clock, log } = newLog(file, 41);
    log.append(input('a'), RUN);
    clock.advance(5);
    log.append(input('b'), null);
    await log.sync();
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      {
        seq: 42,
        session_id: SESSION,
        run_id: RUN,
        timestamp: '2026-01-01T00:00:00.000Z',
        engine_version: '1.2.3',
        payload: input('a'),
      },
      {
        seq: 43,
        session_id: SESSION,
        run_id: null,
        timestamp: '2026-01-01T00:00:00.005Z',
        engine_version: '1.2.3',
        payload: input('b'),
      },
    ]);
  });

  it('hands back what a later reader will get, shared with nobody', async () => {
    const { file, lines } = memoryFile();
    const { log } = newLog(file);
    const args = { path: 'a' };
    const event = log.append(started(args), RUN);
    args.path = 'changed';
    await log.sync();
    expect(event.payload).toMatchObject({ args: { path: 'a' } });
    expect(JSON.parse(lines()[0]!)).toEqual(event);
  });

  it('never writes half a surrogate pair nor a raw NUL, in values and in keys [EVT-1]', async () => {
    const { file, lines } = memoryFile();
    const { log } = newLog(file);
    log.append(started({ 'k\ud800': 'a\udc00b\0c', pair: '😀', escaped: '\\ud800' }), RUN);
    await log.sync();
    const [line] = lines();
    expect(line).not.toContain('\0');
    const { args } = JSON.parse(line!).payload;
    expect(args).toEqual({ 'k\ufffd': 'a\ufffdb\0c', pair: '😀', escaped: '\\ud800' });
  });

  it('serves 1,000 concurrent syncs with few disk syncs, each after its events [SES-2]', async () => {
    const { file, lines, steps } = memoryFile();
    const { log } = newLog(file);
    await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => {
        const { seq } = log.append(input(`${index}`), null);
        await log.sync();
        expect(lines().length).toBeGreaterThanOrEqual(seq);
        expect(steps.at(-1)).toBe('sync');
      }),
    );
    expect(steps.filter((step) => step === 'sync').length).toBeLessThan(10);
    expect(lines().map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );
  });

  it('gathers all who come while a disk sync runs into the next one [SES-2]', async () => {
    const gates = [deferred(), deferred()];
    let syncs = 0;
    const { file, steps } = memoryFile({ sync: () => gates[syncs++]!.promise });
    const { log } = newLog(file);
    log.append(input('first'), null);
    const first = log.sync();
    await until(() => syncs === 1);
    const order: number[] = [];
    const later = [1, 2, 3].map((number) => {
      log.append(input(`${number}`), null);
      return log.sync().then(() => order.push(number));
    });
    gates[0]!.resolve();
    await first;
    expect(order).toEqual([]);
    await until(() => syncs === 2);
    gates[1]!.resolve();
    await Promise.all(later);
    expect(order).toEqual([1, 2, 3]);
    expect(steps).toEqual(['append', 'sync', 'append', 'sync']);
  });

  it('writes without a disk sync what nobody waits for, and nothing twice', async () => {
    const { file, lines, steps } = memoryFile();
    const { log } = newLog(file);
    log.append(input('a'), null);
    await until(() => lines().length === 1);
    expect(steps).toEqual(['append']);
    await log.sync();
    await log.sync();
    expect(steps).toEqual(['append', 'sync']);
  });

  it('rejects every pending and later sync after a failed write, naming the cause [SES-2]', async () => {
    const { file, lines } = memoryFile({ append: noSpace });
    const { log } = newLog(file);
    log.append(input('a'), null);
    const settled = await Promise.allSettled([log.sync(), log.sync()]);
    log.append(input('b'), null);
    settled.push(...(await Promise.allSettled([log.sync()])));
    for (const one of settled) {
      expect(one).toMatchObject({
        status: 'rejected',
        reason: { code: 'ENGINE_LOG_FAILED', message: expect.stringContaining('ENOSPC') },
      });
    }
    expect(lines()).toEqual([]);
    await expect(log.close()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
  });

  it('rejects after a failed disk sync and trusts no later one [SES-2]', async () => {
    let faulty = true;
    const { file } = memoryFile({
      sync: async () => {
        if (faulty) throw new Error('EIO: i/o error, fdatasync');
      },
    });
    const { log } = newLog(file);
    log.append(input('a'), null);
    await expect(log.sync()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
    faulty = false;
    await expect(log.sync()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
  });

  it('syncs what is left when it closes, once, and takes nothing afterwards', async () => {
    const { file, lines, steps } = memoryFile();
    const { log } = newLog(file);
    log.append(input('a'), null);
    await Promise.all([log.close(), log.close()]);
    expect(lines()).toHaveLength(1);
    expect(steps).toEqual(['append', 'sync', 'close']);
    expect(() => log.append(input('b'), null)).toThrow('closed');
  });

  it('closes the file also when the last write fails', async () => {
    const { file, steps } = memoryFile({ append: noSpace });
    const { log } = newLog(file);
    log.append(input('a'), null);
    await expect(log.close()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
    expect(steps.at(-1)).toBe('close');
  });

  it('refuses an event that no reader would take back, and goes on with the next', async () => {
    const { file, lines } = memoryFile();
    const { log } = newLog(file);
    expect(() => log.append(input('x'.repeat(64 * 1024 * 1024)), null)).toThrow('too large');
    expect(() => log.append(started(JSON.parse(`${'['.repeat(9999)}${']'.repeat(9999)}`)), null)).toThrow(
      'too deep',
    );
    expect(log.append(input('b'), null).seq).toBe(1);
    await log.sync();
    expect(lines()).toHaveLength(1);
  });
});

function started(args: unknown): EnginePayload {
  const payload: EnginePayload = {
    type: 'tool_call_started',
    tool_call_id: 'c1',
    provider_call_id: 'p1',
    tool: 'read',
    args,
    action: 'read',
    label: 'a',
    output: { kind: 'single' },
  };
  expect(eventSchemas.tool_call_started.safeParse(payload).success).toBe(true);
  return payload;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
