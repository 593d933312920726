import type { Clock } from '@agentd/contract';

/** Waits for `event`, at most `ms`; tells whether it came. Leaves no timer behind. Rejects when `event` does. */
export async function within(event: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let cancel = (): void => undefined;
  const expired = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([event.then(() => true), expired]);
  } finally {
    cancel();
  }
}

/** Waits `ms`. */
export function sleep(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
