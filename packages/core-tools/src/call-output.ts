import {
  streamsOf,
  type OutputChunk,
  type OutputDeclaration,
  type StreamName,
  type ToolCompletion,
} from '@agentd/contract';
import { HeadAndTail } from './head-and-tail.ts';

/** Collects what a call reports, and makes the one text of it that a model reads. */
export class CallOutput {
  readonly #streams: ReadonlyMap<StreamName, HeadAndTail>;

  constructor(declaration: OutputDeclaration, maxLength: number) {
    this.#streams = new Map(streamsOf(declaration).map((name) => [name, new HeadAndTail(maxLength)]));
  }

  take(chunks: readonly OutputChunk[]): void {
    for (const { stream = null, text } of chunks) this.#streams.get(stream)?.push(text);
  }

  /** The output, then the last line of the tool, its error, and where to go on. */
  textOf({ output, closingLine, error, metadata, attachments = [] }: ToolCompletion): string {
    if (output.kind === 'named') {
      this.take(Object.entries(output.streams).map(([stream, text]) => ({ stream, text })));
    }
    const next = metadata?.['next_offset'];
    const parts = [
      output.kind === 'single' ? output.text : this.#rendered(),
      // A loop of the AI SDK takes one text of a call.
      ...attachments.map(({ record }) => `[${record.filename ?? record.mime_type} is not passed on to you]`),
      closingLine ?? '',
      error === undefined ? '' : `error: ${error.code}: ${error.message}`,
      typeof next === 'number' ? `[next_offset: ${next}]` : '',
    ];
    return parts
      .filter((part) => part !== '')
      .map((part) => part.replace(/\n$/, ''))
      .join('\n');
  }

  #rendered(): string {
    const streams = [...this.#streams].map(([name, text]) => {
      if (name === null) return text.toString();
      return text.isEmpty ? `[${name}]` : `[${name}]\n${text.toString().replace(/\n$/, '')}`;
    });
    return streams.join('\n\n');
  }
}
