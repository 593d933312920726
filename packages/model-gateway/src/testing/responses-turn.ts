import { eventStream, type CannedReply } from './canned-reply.ts';
import { halves, words } from './pieces.ts';
import { argsText, idField, type WireCall } from './wire-turn.ts';

export interface ResponsesTurn {
  readonly text?: string;
  /** A reasoning item before the text; `summary` may be empty, as it is by default at the provider. */
  readonly reasoning?: { readonly id: string; readonly encrypted: string; readonly summary?: string };
  readonly calls?: readonly WireCall[];
  /** Why the answer is incomplete, e.g. `max_output_tokens`; it is complete without. */
  readonly incomplete?: string;
  /** As the wire has it, e.g. `{input_tokens, output_tokens, input_tokens_details: {cached_tokens}}`. */
  readonly usage?: object;
  /** Sent in place of the end as `response.failed`: `{code, message}`. */
  readonly failed?: { readonly code: string; readonly message: string };
}

interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A turn as the Responses API streams it. */
export function responsesTurn(turn: ResponsesTurn): CannedReply {
  const { reasoning, text = '', calls = [] } = turn;
  const items = [
    ...(reasoning === undefined ? [] : [reasoningEvents(reasoning)]),
    ...(text === '' ? [] : [textEvents(text)]),
    ...calls.map(callEvents),
  ];
  const events = [
    { type: 'response.created', response: response() },
    ...items.flatMap((item, index) => item.map((event) => ({ ...event, output_index: index }))),
    ...ending(turn),
  ];
  return eventStream(events.map(named));
}

function reasoningEvents({ id, encrypted, summary = '' }: NonNullable<ResponsesTurn['reasoning']>) {
  const item = { type: 'reasoning', id, summary: [] };
  const done = summary === '' ? [] : [{ type: 'summary_text', text: summary }];
  const place = { item_id: id, summary_index: 0 };
  return [
    { type: 'response.output_item.added', item: { ...item, encrypted_content: `${encrypted}-early` } },
    ...(summary === '' ? [] : [{ type: 'response.reasoning_summary_part.added', ...place }]),
    ...words(summary).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
    ...(summary === '' ? [] : [{ type: 'response.reasoning_summary_part.done', ...place }]),
    {
      type: 'response.output_item.done',
      item: { ...item, summary: done, encrypted_content: encrypted },
    },
  ];
}

function textEvents(text: string): TypedEvent[] {
  const item = { type: 'message', id: 'msg_1', role: 'assistant' };
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [
    { type: 'response.output_item.added', item: { ...item, content: [] } },
    ...words(text).map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      content_index: 0,
      delta,
    })),
    { type: 'response.output_item.done', item: { ...item, content } },
  ];
}

function callEvents(call: WireCall, index: number): TypedEvent[] {
  const id = `fc_${index}`;
  const item = { type: 'function_call', id, ...idField('call_id', call), name: call.name };
  const args = argsText(call);
  return [
    { type: 'response.output_item.added', item: { ...item, arguments: '', status: 'in_progress' } },
    ...halves(args).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: id,
      delta,
    })),
    { type: 'response.output_item.done', item: { ...item, arguments: args, status: 'completed' } },
  ];
}

function ending({ incomplete, failed, usage }: ResponsesTurn): TypedEvent[] {
  if (failed !== undefined) {
    return [{ type: 'response.failed', response: { ...response(), status: 'failed', error: failed } }];
  }
  const tokens = usage ?? { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  if (incomplete === undefined) {
    return [{ type: 'response.completed', response: { ...response(), status: 'completed', usage: tokens } }];
  }
  const reason = { status: 'incomplete', incomplete_details: { reason: incomplete } };
  return [{ type: 'response.incomplete', response: { ...response(), ...reason, usage: tokens } }];
}

function response(): object {
  return { id: 'resp_1', object: 'response', created_at: 1_790_000_000, model: 'test-model', output: [] };
}

function named(event: { readonly type: string }, index: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`;
}
