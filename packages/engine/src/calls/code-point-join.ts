import type { OutputChunk, StreamName } from '@agentd/contract';

/**
 * Keeps code points whole where a tool cuts its text between the two halves of one: the first half waits for the next
 * chunk of its stream (OUT-14). A half that stays alone becomes U+FFFD, so that all text is well-formed.
 */
export class CodePointJoin {
  readonly #halves = new Map<StreamName, string>();

  join(chunk: OutputChunk): OutputChunk {
    const stream = chunk.stream ?? null;
    const text = (this.#halves.get(stream) ?? '') + chunk.text;
    this.#halves.delete(stream);
    const end = endsInHalf(text) ? text.length - 1 : text.length;
    if (end < text.length) this.#halves.set(stream, text.slice(end));
    return { ...chunk, text: text.slice(0, end).toWellFormed() };
  }

  /** What is left at the end. */
  rest(): readonly OutputChunk[] {
    const halves = [...this.#halves];
    this.#halves.clear();
    return halves.map(([stream, half]) => ({
      ...(stream === null ? {} : { stream }),
      text: half.toWellFormed(),
    }));
  }
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
