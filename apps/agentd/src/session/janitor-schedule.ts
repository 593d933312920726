import type { Clock } from '@agentd/contract';

/** Time between the end of a pass and the start of the next one (ART-9). */
export const JANITOR_INTERVAL_MS = 60_000;

/** Passes of the janitor in a process that stays, one at a time, until it is disposed of. */
export interface JanitorSchedule extends AsyncDisposable {
  /** Resolves once a pass that is at work has ended; none follows. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Contract of `collect`: never rejects. */
export function scheduleJanitor(collect: () => Promise<void>, clock: Clock): JanitorSchedule {
  let atWork: Promise<void> = Promise.resolve();
  let isOver = false;
  let cancel = (): void => undefined;
  const arm = (): void => {
    if (isOver) return;
    cancel = clock.after(JANITOR_INTERVAL_MS, () => {
      atWork = collect().then(arm);
    });
  };
  arm();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      cancel();
      await atWork;
    },
  };
}
