import {
  modelError,
  type AssistantPart,
  type AssistantToolCall,
  type FinishReason,
  type JsonObject,
  type ModelStreamPart,
  type ModelUsage,
} from '@agentd/contract';
import { parseArguments } from './tool-arguments.ts';
import { wireToolName } from './tool-name.ts';

/** A whole turn as it is committed. */
export interface ReducedTurn {
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
}

/** Gives a call its id: valid for every provider and new in its session (field I4). */
export type AssignCallId = (received: string) => string;

type Prose = Extract<ModelStreamPart, { readonly type: 'text-delta' | 'reasoning-delta' }>;
type Call = Extract<ModelStreamPart, { readonly type: 'tool-call' }>;
type Finish = Extract<ModelStreamPart, { readonly type: 'finish' }>;

/** In characters. A turn is one event, and no model means to say so much: it is a stream that does not end. */
const LONGEST_TURN = 16 * 1024 * 1024;
/** What a part takes beside its text. */
const PART_WEIGHT = 100;

interface OpenProse {
  readonly type: 'text' | 'reasoning';
  text: string;
  providerData: JsonObject | undefined;
}

/**
 * Collects the parts of one attempt and makes the turn of them.
 *   R1. Parts stand in the order of their first delta; a call stands where it came.
 *   R2. Provider data of a part's deltas is merged key by key; the last one counts.
 *   R3. Text is well-formed Unicode; text of white space alone, and reasoning that says and carries nothing, is left out.
 *   R4. A turn without `finish` is none, whatever came: it throws `MODEL_UNAVAILABLE`.
 *   R5. A turn takes a bounded amount of memory: past it `add` throws `MODEL_REFUSED`.
 *   R6. Usage is counted in whole tokens, never below none: a server's nonsense must not spoil the sums of a session.
 */
export class StreamReducer {
  readonly #parts: (OpenProse | Call)[] = [];
  readonly #open = new Map<string, OpenProse>();
  #finish: Finish | undefined;
  #length = 0;

  add(part: ModelStreamPart): void {
    if (part.type === 'finish') this.#finish = part;
    else if (part.type === 'tool-call') this.#addPart(part, part.input.length);
    else this.#addProse(part);
  }

  /** Throws R4's error. */
  assertWhole(): void {
    this.#whole();
  }

  /** The turn. Ids are given here, in call order, so that an abandoned attempt uses none up. */
  turn(assignCallId: AssignCallId): ReducedTurn {
    const { reason: finishReason, usage } = this.#whole();
    const content = this.#parts.flatMap((part) =>
      part.type === 'tool-call' ? [committedCall(part, assignCallId)] : committedProse(part),
    );
    return { content, finishReason, usage: soundUsage(usage) };
  }

  #whole(): Finish {
    if (this.#finish !== undefined) return this.#finish;
    throw modelError('MODEL_UNAVAILABLE', 'the stream of the model was cut off before its turn was complete');
  }

  #addProse({ type, id, text, providerData }: Prose): void {
    const key = `${type} ${id}`;
    let part = this.#open.get(key);
    if (part === undefined) {
      part = { type: type === 'text-delta' ? 'text' : 'reasoning', text: '', providerData: undefined };
      this.#open.set(key, part);
      this.#addPart(part, 0);
    }
    this.#grow(text.length);
    part.text += text;
    if (providerData !== undefined) part.providerData = { ...part.providerData, ...providerData };
  }

  #addPart(part: OpenProse | Call, length: number): void {
    this.#grow(PART_WEIGHT + length);
    this.#parts.push(part);
  }

  #grow(length: number): void {
    this.#length += length;
    if (this.#length <= LONGEST_TURN) return;
    throw modelError(
      'MODEL_REFUSED',
      `the answer of the model is over ${LONGEST_TURN} characters long; it was broken off`,
    );
  }
}

function committedProse({ type, text, providerData }: OpenProse): readonly AssistantPart[] {
  const isBlank = text.trim() === '';
  if (isBlank && (type === 'text' || providerData === undefined)) return [];
  return [{ type, text: text.toWellFormed(), ...dataOf(providerData) }];
}

function committedCall(call: Call, assignCallId: AssignCallId): AssistantToolCall {
  const { input, raw } = parseArguments(call.input);
  return {
    type: 'tool_call',
    provider_call_id: assignCallId(call.providerCallId),
    tool: wireToolName(call.tool),
    input,
    ...(raw === undefined ? {} : { raw_input: raw }),
    ...dataOf(call.providerData),
  };
}

function soundUsage(usage: ModelUsage): ModelUsage {
  const tokens = (count: number): number =>
    Number.isFinite(count) ? Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER) : 0;
  return {
    input_tokens: tokens(usage.input_tokens),
    output_tokens: tokens(usage.output_tokens),
    cache_read_tokens: tokens(usage.cache_read_tokens),
    cache_write_tokens: tokens(usage.cache_write_tokens),
    reasoning_tokens: tokens(usage.reasoning_tokens),
  };
}

function dataOf(providerData: JsonObject | undefined): { readonly provider_data?: JsonObject } {
  return providerData === undefined ? {} : { provider_data: providerData };
}
