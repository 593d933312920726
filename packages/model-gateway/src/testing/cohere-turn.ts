import { eventStream, type CannedReply } from './canned-reply.ts';
import { halves, words } from './pieces.ts';
import { argsText, idField, type WireCall } from './wire-turn.ts';

export interface CohereTurn {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly WireCall[];
  /** `TOOL_CALL` with calls and `COMPLETE` without, by default. */
  readonly finish?: string;
  /** As the wire has it: `{tokens: {input_tokens, output_tokens}, cached_tokens}`. */
  readonly usage?: object;
}

/** A turn as Cohere's chat streams it. */
export function cohereTurn(turn: CohereTurn): CannedReply {
  const { text = '', thinking = '', calls = [], finish, usage } = turn;
  const reason = finish ?? (calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE');
  const tokens = usage ?? { tokens: { input_tokens: 10, output_tokens: 5 } };
  return eventStream(
    [
      { type: 'message-start', id: 'm1', delta: { message: { role: 'assistant' } } },
      ...contentEvents('thinking', thinking, 0),
      ...(calls.length > 0
        ? [{ type: 'tool-plan-delta', delta: { message: { tool_plan: 'I will call.' } } }]
        : []),
      ...contentEvents('text', text, 1),
      ...calls.flatMap(callEvents),
      { type: 'message-end', delta: { finish_reason: reason, usage: tokens } },
    ].map(named),
  );
}

function contentEvents(type: 'text' | 'thinking', text: string, index: number): TypedEvent[] {
  if (text === '') return [];
  const content = (fields: object) => ({ delta: { message: { content: fields } } });
  return [
    { type: 'content-start', index, ...content({ type, [type]: '' }) },
    ...words(text).map((piece) => ({ type: 'content-delta', index, ...content({ [type]: piece }) })),
    { type: 'content-end', index },
  ];
}

function callEvents(call: WireCall, index: number): TypedEvent[] {
  const made = (fields: object) => ({ delta: { message: { tool_calls: fields } } });
  const start = { ...idField('id', call), type: 'function', function: { name: call.name, arguments: '' } };
  return [
    { type: 'tool-call-start', index, ...made(start) },
    ...halves(argsText(call)).map((piece) => ({
      type: 'tool-call-delta',
      index,
      ...made({ function: { arguments: piece } }),
    })),
    { type: 'tool-call-end', index },
  ];
}

interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function named(event: TypedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
