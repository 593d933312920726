import type {
  FinishReason,
  ModelClient,
  ModelInfo,
  ModelRequest,
  ModelStreamPart,
  ModelUsage,
} from '../model.ts';

/** A turn that the model plays: parts in order, or an error to throw, or a function that does either. */
export type SequenceTurn =
  | readonly ModelStreamPart[]
  | Error
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelStreamPart>);

/** Plays its turns in the order of the requests, whatever they ask, and keeps the requests. */
export interface SequenceModel extends ModelClient {
  readonly requests: readonly ModelRequest[];
}

const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

export function sequenceModel(turns: readonly SequenceTurn[], info: Partial<ModelInfo> = {}): SequenceModel {
  const requests: ModelRequest[] = [];
  return {
    info: {
      id: 'test/sequence',
      provider: 'test',
      model: 'sequence',
      family: 'openai-chat',
      input: ['text'],
      toolCalling: true,
      contextTokens: 200_000,
      outputTokens: 8192,
      ...info,
    },
    requests,
    stream: (request, signal) => {
      const turn = turns[requests.length];
      requests.push(structuredClone(request));
      if (turn === undefined) throw new Error(`the sequence has no turn ${requests.length}`);
      return typeof turn === 'function' ? turn(request, signal) : play(turn, signal);
    },
  };
}

async function* play(
  turn: readonly ModelStreamPart[] | Error,
  signal: AbortSignal,
): AsyncIterable<ModelStreamPart> {
  if (!Array.isArray(turn)) throw turn;
  for (const part of turn as readonly ModelStreamPart[]) {
    signal.throwIfAborted();
    yield part;
  }
}

/** Parts of a turn that says `text` and makes `calls`. */
export function turnParts(
  text: string,
  calls: readonly { readonly id: string; readonly tool: string; readonly args: unknown }[] = [],
  reason: FinishReason = calls.length > 0 ? 'tool_calls' : 'stop',
): readonly ModelStreamPart[] {
  return [
    ...(text === '' ? [] : [{ type: 'text-delta' as const, id: '0', text }]),
    ...calls.map(({ id, tool, args }) => ({
      type: 'tool-call' as const,
      providerCallId: id,
      tool,
      input: typeof args === 'string' ? args : JSON.stringify(args),
    })),
    { type: 'finish', reason, usage: NO_USAGE },
  ];
}
