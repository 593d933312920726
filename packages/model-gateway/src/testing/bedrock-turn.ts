import { eventFrame } from '../wire/event-frames.ts';
import type { CannedReply } from './canned-reply.ts';
import { halves, words } from './pieces.ts';
import { argsText, idField, type WireCall } from './wire-turn.ts';

export interface BedrockTurn {
  readonly text?: string;
  /** Reasoning before the text, with the signature that the provider checks later. */
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly calls?: readonly WireCall[];
  /** `tool_use` with calls and `end_turn` without, by default. */
  readonly stop?: string;
  /** As the wire has it: `{inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens}`. */
  readonly usage?: object;
  /** Sent in place of the end, e.g. `{type: 'throttlingException', message: 'slow down'}`. */
  readonly exception?: { readonly type: string; readonly message: string };
}

type Event = readonly [type: string, payload: object];

/** A turn as Converse streams it: binary frames with checksums. */
export function bedrockTurn(turn: BedrockTurn): CannedReply {
  const blocks = blocksOf(turn).flatMap((block, index) => block(index));
  const frames = ([['messageStart', { role: 'assistant' }], ...blocks] as Event[]).map(([type, payload]) =>
    frame({ ':message-type': 'event', ':event-type': type }, payload),
  );
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: Buffer.concat([...frames, ...ending(turn)]),
  };
}

type Block = (index: number) => Event[];

function blocksOf({ reasoning, text = '', calls = [] }: BedrockTurn): Block[] {
  const { text: thought = '', signature } = reasoning ?? {};
  const thinking: Block = (index) => [
    ...words(thought).map((piece) => delta(index, { reasoningContent: { text: piece } })),
    delta(index, { reasoningContent: { signature } }),
    stop(index),
  ];
  const saying: Block = (index) => [
    ...words(text).map((piece) => delta(index, { text: piece })),
    stop(index),
  ];
  return [
    ...(reasoning === undefined ? [] : [thinking]),
    ...(text === '' ? [] : [saying]),
    ...calls.map((call) => callBlock(call)),
  ];
}

function callBlock(call: WireCall): Block {
  return (index) => [
    [
      'contentBlockStart',
      {
        contentBlockIndex: index,
        start: { toolUse: { ...idField('toolUseId', call), name: call.name } },
      },
    ],
    ...halves(argsText(call)).map((input) => delta(index, { toolUse: { input } })),
    stop(index),
  ];
}

function delta(index: number, content: object): Event {
  return ['contentBlockDelta', { contentBlockIndex: index, delta: content }];
}

function stop(index: number): Event {
  return ['contentBlockStop', { contentBlockIndex: index }];
}

function ending({ calls = [], stop: reason, usage, exception }: BedrockTurn): Buffer[] {
  if (exception !== undefined) {
    const { type, message } = exception;
    return [frame({ ':message-type': 'exception', ':exception-type': type }, { message })];
  }
  const stopReason = reason ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  const tokens = usage ?? { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  return [
    frame({ ':message-type': 'event', ':event-type': 'messageStop' }, { stopReason }),
    frame(
      { ':message-type': 'event', ':event-type': 'metadata' },
      { usage: tokens, metrics: { latencyMs: 9 } },
    ),
  ];
}

/** The padding `p` is there as on the real wire. */
function frame(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const fields = Object.entries({ ...headers, ':content-type': 'application/json' }).map(header);
  return eventFrame(Buffer.concat(fields), JSON.stringify({ ...payload, p: 'abcdefghij' }));
}

/** Type 7 is a text, its length in two bytes. */
function header([name, value]: readonly [string, string]): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    size,
    Buffer.from(value),
  ]);
}
