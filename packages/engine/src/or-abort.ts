/**
 * What `work` settles with, or the signal's reason at once, whether or not the work heeds the signal. Leaves no listener
 * behind; what abandoned work settles with is dropped.
 */
export async function orAbort<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
