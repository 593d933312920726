import type { Writable } from 'node:stream';

/**
 * Writes `input` to the command, one piece at a time: the next is asked for only when the pipe has taken the last
 * (BASH-3). The end of the input, or a fault of its source, is EOF for the command.
 * Returns how to stop; a command that closed its input stops the feed by itself.
 */
export function feedStdin(input: AsyncIterable<Uint8Array>, sink: Writable): () => void {
  const iterator = input[Symbol.asyncIterator]();
  let stopped = false;
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    sink.destroy();
    // Not awaited: the source may wait for a person, and answers in its own time.
    iterator.return?.().catch(() => undefined);
  };
  // EPIPE: nobody reads any more. `close` follows.
  sink.on('error', () => undefined);
  sink.once('close', stop);

  const feed = async (): Promise<void> => {
    while (!sink.destroyed) {
      const next = await iterator.next();
      if (next.done === true) return;
      // An empty write to a pipe would never be confirmed.
      if (next.value.length > 0 && !(await written(sink, next.value))) return;
    }
  };
  feed().then(
    () => sink.end(),
    () => sink.end(),
  );
  return stop;
}

function written(sink: Writable, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    sink.write(bytes, (error) => resolve(error === null || error === undefined));
  });
}
