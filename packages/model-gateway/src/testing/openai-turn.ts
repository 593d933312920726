import { eventStream, type CannedReply } from './canned-reply.ts';
import { halves, words } from './pieces.ts';

export interface OpenaiCall {
  /** Left out of the stream where it is absent; null goes out as null. */
  readonly id?: string | number | null;
  readonly name: string;
  /** A text goes out as it is, JSON or not; anything else as JSON. */
  readonly args?: unknown;
  /** The call's number by default; null leaves it out. */
  readonly index?: number | null;
}

export interface OpenaiTurn {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly OpenaiCall[];
  /** `tool_calls` with calls and `stop` without, by default. */
  readonly finish?: string;
  /** As the wire has it, e.g. `{prompt_tokens, completion_tokens, prompt_tokens_details: {cached_tokens}}`. */
  readonly usage?: object;
  /** Sent in place of the end: `{message, type, code}`. */
  readonly error?: object;
}

/** A turn as Chat Completions streams it. */
export function openaiTurn(turn: OpenaiTurn): CannedReply {
  const { text = '', reasoning = '', calls = [] } = turn;
  return eventStream([
    chunk({ role: 'assistant', content: '' }),
    ...words(reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...words(text).map((piece) => chunk({ content: piece })),
    ...calls.flatMap(callChunks),
    ...ending(turn),
  ]);
}

function ending({ calls = [], finish, usage, error }: OpenaiTurn): (object | string)[] {
  if (error !== undefined) return [{ error }];
  const tokens = usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    { ...envelope(), choices: [], usage: tokens },
    'data: [DONE]\n\n',
  ];
}

function callChunks(call: OpenaiCall, position: number): object[] {
  const { name, args = {} } = call;
  const number = call.index === null ? {} : { index: call.index ?? position };
  const id = call.id === undefined ? {} : { id: call.id };
  const [first, ...rest] = halves(typeof args === 'string' ? args : JSON.stringify(args));
  const start = { ...number, ...id, type: 'function', function: { name, arguments: first } };
  const more = rest.map((piece) => ({ ...number, function: { arguments: piece } }));
  return [start, ...more].map((delta) => chunk({ tool_calls: [delta] }));
}

function chunk(delta: object, finish: string | null = null): object {
  return { ...envelope(), choices: [{ index: 0, delta, finish_reason: finish }] };
}

function envelope(): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'test-model' };
}
