import { eventStream, type CannedReply } from './canned-reply.ts';
import { halves, words } from './pieces.ts';

export interface AnthropicCall {
  /** Left out of the stream where it is absent; null goes out as null. */
  readonly id?: string | null;
  readonly name: string;
  /** A text goes out as it is, JSON or not; anything else as JSON. */
  readonly args?: unknown;
}

export interface AnthropicTurn {
  readonly text?: string;
  /** A thinking block before the text, with the signature that the provider checks later. */
  readonly thinking?: { readonly text: string; readonly signature: string };
  /** A redacted thinking block. */
  readonly redacted?: string;
  readonly calls?: readonly AnthropicCall[];
  /** `tool_use` with calls and `end_turn` without, by default. */
  readonly stop?: string;
  /** As the wire has it: `{input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens}`. */
  readonly usage?: Readonly<Record<string, number>>;
  /** Sent in place of the end: `{type, message}`. */
  readonly error?: { readonly type: string; readonly message: string };
}

/** A turn as the Messages API streams it. */
export function anthropicTurn(turn: AnthropicTurn): CannedReply {
  const blocks = blocksOf(turn);
  const usage = { input_tokens: 10, output_tokens: 5, ...turn.usage };
  return eventStream(
    [start(usage), { type: 'ping' }, ...blocks.flatMap(blockEvents), ...ending(turn, usage)].map(named),
  );
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf({ thinking, redacted, text = '', calls = [] }: AnthropicTurn): Block[] {
  const blocks: Block[] = [];
  if (thinking !== undefined) blocks.push(thinkingBlock(thinking));
  if (redacted !== undefined)
    blocks.push({ start: { type: 'redacted_thinking', data: redacted }, deltas: [] });
  if (text !== '') {
    const deltas = words(text).map((piece) => ({ type: 'text_delta', text: piece }));
    blocks.push({ start: { type: 'text', text: '' }, deltas });
  }
  return [...blocks, ...calls.map(callBlock)];
}

function thinkingBlock({ text, signature }: NonNullable<AnthropicTurn['thinking']>): Block {
  const deltas = words(text).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...deltas, { type: 'signature_delta', signature }],
  };
}

function callBlock({ id, name, args = {} }: AnthropicCall): Block {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return {
    start: { type: 'tool_use', ...(id === undefined ? {} : { id }), name, input: {} },
    deltas: halves(text).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  };
}

function blockEvents({ start, deltas }: Block, index: number): TypedEvent[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function start(usage: Readonly<Record<string, number>>): TypedEvent {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model', content: [] };
  return {
    type: 'message_start',
    message: { ...message, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
  };
}

function ending(
  { calls = [], stop, error }: AnthropicTurn,
  { output_tokens: tokens }: Readonly<Record<string, number>>,
): TypedEvent[] {
  if (error !== undefined) return [{ type: 'error', error }];
  const reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  return [
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: tokens },
    },
    { type: 'message_stop' },
  ];
}

function named(event: TypedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
