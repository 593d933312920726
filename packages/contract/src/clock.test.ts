import { describe, expect, it } from '@jest/globals';
import { pause, systemClock } from './clock.ts';
import { flush } from './testing/deferred.ts';
import { manualClock } from './testing/manual-clock.ts';

describe('pause', () => {
  it('waits for the clock and leaves nothing behind', async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    let over = false;
    const waiting = pause(50, clock, signal).then(() => (over = true));
    clock.advance(49);
    await flush();
    expect(over).toBe(false);
    clock.advance(1);
    await waiting;
    expect(clock.pending()).toBe(0);
  });

  it('rejects with the reason of the signal and cancels its timer', async () => {
    const clock = manualClock();
    const abort = new AbortController();
    const waiting = pause(50, clock, abort.signal);
    abort.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(clock.pending()).toBe(0);
  });
});

describe('systemClock', () => {
  it('does not fire at once for waits beyond the range of timers', async () => {
    let fired = false;
    const cancel = systemClock.after(1e12, () => (fired = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    cancel();
    expect(fired).toBe(false);
  });
});
