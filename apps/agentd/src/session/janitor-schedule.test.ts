import { deferred, flush, manualClock, type Deferred } from '@agentd/contract/testing';
import { expect, it } from '@jest/globals';
import { JANITOR_INTERVAL_MS, scheduleJanitor } from './janitor-schedule.ts';

it('passes every 60 s, one at a time, and no more once it is disposed of [ART-9]', async () => {
  const clock = manualClock();
  const passes: Deferred<void>[] = [];
  const collect = (): Promise<void> => {
    const pass = deferred();
    passes.push(pass);
    return pass.promise;
  };
  const schedule = scheduleJanitor(collect, clock);
  expect(JANITOR_INTERVAL_MS).toBe(60_000);
  clock.advance(59_999);
  expect(passes).toHaveLength(0);
  clock.advance(1);
  expect(passes).toHaveLength(1);
  clock.advance(600_000);
  expect(passes).toHaveLength(1);
  passes[0]?.resolve();
  await flush();
  clock.advance(60_000);
  expect(passes).toHaveLength(2);

  let isDisposed = false;
  const disposing = schedule[Symbol.asyncDispose]().then(() => (isDisposed = true));
  await flush();
  expect(isDisposed).toBe(false);
  passes[1]?.resolve();
  await disposing;
  clock.advance(600_000);
  expect(passes).toHaveLength(2);
});
