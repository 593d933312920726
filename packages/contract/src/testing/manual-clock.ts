import type { Clock } from '../clock.ts';

/** Time that moves only when the test says so. */
export interface ManualClock extends Clock {
  /** Moves time on and runs what is due, in order of its time. */
  readonly advance: (ms: number) => void;
  /** Timers that wait. */
  readonly pending: () => number;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start;
  const timers = new Set<Timer>();
  const nextDue = (limit: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= limit).toSorted((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => {
      const limit = now + ms;
      for (let due = nextDue(limit); due !== undefined; due = nextDue(limit)) {
        timers.delete(due);
        now = due.at;
        due.run();
      }
      now = limit;
    },
    pending: () => timers.size,
  };
}
