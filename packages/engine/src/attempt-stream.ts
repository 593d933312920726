import type { ModelClient, ModelRequest, ModelStreamPart } from '@agentd/contract';
import { orAbort } from './or-abort.ts';

/**
 * The parts of one attempt up to and with `finish`. An abort ends it at once with the signal's reason, whether or not
 * the client heeds the signal; the client's stream is always told to close.
 */
export async function* attemptStream(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelStreamPart, void> {
  signal.throwIfAborted();
  const iterator = client.stream(request, signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await orAbort(() => iterator.next(), signal);
      if (done === true) return;
      yield value;
      if (value.type === 'finish') return;
    }
  } finally {
    closeQuietly(iterator);
  }
}

/** A client that hangs or throws while it closes must not hold up or fail a run that no longer reads from it. */
function closeQuietly(iterator: AsyncIterator<ModelStreamPart>): void {
  const close = async (): Promise<void> => void (await iterator.return?.());
  close().catch(() => undefined);
}
