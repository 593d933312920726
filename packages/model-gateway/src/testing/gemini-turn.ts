import { eventStream, type CannedReply } from './canned-reply.ts';
import { words } from './pieces.ts';
import { idField, type WireCall } from './wire-turn.ts';

export interface GeminiCall extends WireCall {
  /** The signature of the thought that led to the call. */
  readonly signature?: string;
}

export interface GeminiTurn {
  readonly text?: string;
  /** A summary of thoughts before the text. */
  readonly thought?: string;
  /** Calls come whole; arguments are always an object on this wire. */
  readonly calls?: readonly GeminiCall[];
  /** `STOP` by default, with calls too. */
  readonly finish?: string;
  /** As the wire has it: `{promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount}`. */
  readonly usage?: object;
  /** Sent in place of the end: `{code, message, status}`. */
  readonly error?: object;
}

/** A turn as `streamGenerateContent` streams it. */
export function geminiTurn(turn: GeminiTurn): CannedReply {
  const { text = '', thought = '', calls = [] } = turn;
  return eventStream([
    ...words(thought).map((piece) => chunk([{ text: piece, thought: true }])),
    ...words(text).map((piece) => chunk([{ text: piece }])),
    ...(calls.length === 0 ? [] : [chunk(calls.map(callPart))]),
    ...ending(turn),
  ]);
}

function callPart(call: GeminiCall): object {
  const { name, args = {}, signature } = call;
  const functionCall = { ...idField('id', call), name, args };
  return { functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
}

function ending({ finish = 'STOP', usage, error }: GeminiTurn): object[] {
  if (error !== undefined) return [{ error }];
  const tokens = usage ?? { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return [{ ...chunk([{ text: '' }], finish), usageMetadata: tokens }];
}

function chunk(parts: readonly object[], finishReason?: string): object {
  const candidate = { content: { role: 'model', parts }, index: 0 };
  const reason = finishReason === undefined ? {} : { finishReason };
  return { candidates: [{ ...candidate, ...reason }], modelVersion: 'test-model', responseId: 'r1' };
}
