/** Waits for the promise or for the signal, whichever comes first; leaves no listener behind. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  if (signal.aborted) return;
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Runs `work` while an abort of the signal calls `onAbort`, also one that came before. */
export async function whileListening<Value>(
  signal: AbortSignal,
  onAbort: () => void,
  work: () => Promise<Value>,
): Promise<Value> {
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
