import type {
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { FinishReason, JsonObject, ModelStreamPart, ModelUsage } from '@agentd/contract';

/** A stream that ended before its turn was whole. */
export class CutStream extends Error {}

/** What a provider reported in the middle of its stream. */
export class StreamFault extends Error {
  readonly fault: unknown;

  constructor(fault: unknown) {
    super('the provider reported an error in its stream');
    this.fault = fault;
  }
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  other: 'other',
};

/** How a wire's package tells things that others tell otherwise. */
export interface StreamForm {
  /** The wire has no word for the reason of a whole turn; its package tells a cut one by itself. */
  readonly hasNoReasonWord?: boolean;
  /** The arguments of a call as the model wrote them, where the package does not hand them on so. */
  readonly inputOf?: (input: string) => string;
}

type Kind = 'text' | 'reasoning';

interface OpenPart {
  readonly id: string;
  data: JsonObject | undefined;
}

/**
 * Turns the parts of one provider stream into ours.
 *   R1. Every part has an id of its own, although packages use theirs again.
 *   R2. Provider data of start, deltas and end is merged, and each delta that changed it carries the whole.
 *   R3. `finish` comes once, and only for a turn that is whole; anything else throws.
 */
export class StreamReducer {
  readonly #open = new Map<string, OpenPart>();
  readonly #form: StreamForm;
  #parts = 0;
  #calls = 0;

  constructor(form: StreamForm = {}) {
    this.#form = form;
  }

  /** The part to pass on, or undefined. Throws `CutStream` or `StreamFault`. */
  next(part: LanguageModelV4StreamPart): ModelStreamPart | undefined {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#start(part);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(part);
      case 'text-end':
      case 'reasoning-end':
        return this.#delta({ ...part, delta: '' });
      case 'tool-call':
        return this.#call(part);
      case 'finish':
        return this.#finish(part);
      case 'error':
        throw new StreamFault(part.error);
      default:
        return undefined;
    }
  }

  #start(part: { type: `${Kind}-start`; id: string; providerMetadata?: SharedV4ProviderMetadata }) {
    this.#open.set(slot(part), { id: String(this.#parts++), data: undefined });
    return this.#delta({ ...part, delta: '' });
  }

  #delta(part: {
    type: `${Kind}-${'start' | 'delta' | 'end'}`;
    id: string;
    delta: string;
    providerMetadata?: SharedV4ProviderMetadata;
  }): ModelStreamPart | undefined {
    const open = this.#open.get(slot(part)) ?? { id: String(this.#parts++), data: undefined };
    this.#open.set(slot(part), open);
    const changed = part.providerMetadata !== undefined;
    if (changed) open.data = merge(open.data, part.providerMetadata);
    if (part.delta === '' && !changed) return undefined;
    return {
      type: kindOf(part) === 'text' ? 'text-delta' : 'reasoning-delta',
      id: open.id,
      text: part.delta,
      ...(changed && open.data !== undefined ? { providerData: open.data } : {}),
    };
  }

  #call(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): ModelStreamPart | undefined {
    // A call that the provider has run itself has no result of ours.
    if (part.providerExecuted === true) return undefined;
    this.#calls += 1;
    const data = part.providerMetadata === undefined ? undefined : merge(undefined, part.providerMetadata);
    return {
      type: 'tool-call',
      providerCallId: part.toolCallId,
      tool: part.toolName,
      input: this.#form.inputOf?.(part.input) ?? part.input,
      ...(data === undefined ? {} : { providerData: data }),
    };
  }

  #finish({ finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ModelStreamPart {
    const { unified, raw } = finishReason;
    const reason = REASONS[unified];
    // A reason without the provider's own word for it is most packages' way to say that the stream just stopped.
    const isTold = raw === undefined ? this.#form.hasNoReasonWord === true : raw !== 'error';
    if (reason === undefined || !isTold) {
      throw new CutStream('the stream ended before the turn was whole');
    }
    // Some servers say `stop` although they call.
    return {
      type: 'finish',
      reason: reason === 'stop' && this.#calls > 0 ? 'tool_calls' : reason,
      usage: usageOf(usage),
    };
  }
}

function kindOf({ type }: { readonly type: string }): Kind {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

function slot(part: { readonly type: string; readonly id: string }): string {
  return `${kindOf(part)}:${part.id}`;
}

function merge(
  known: JsonObject | undefined,
  added: SharedV4ProviderMetadata | undefined,
): JsonObject | undefined {
  if (added === undefined) return known;
  const merged: Record<string, JsonObject> = { ...(known as Record<string, JsonObject> | undefined) };
  for (const [provider, data] of Object.entries(added)) {
    merged[provider] = { ...merged[provider], ...(data as JsonObject) };
  }
  return Object.values(merged).every((data) => Object.keys(data).length === 0) ? known : merged;
}

/** `input_tokens` counts the whole prompt, cached tokens included; `output_tokens` includes reasoning (SES-10). */
function usageOf({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): ModelUsage {
  const { total, noCache = 0, cacheRead = cachedIn(raw), cacheWrite = 0 } = inputTokens;
  const { total: written, text = 0, reasoning = 0 } = outputTokens;
  return {
    input_tokens: total ?? noCache + cacheRead + cacheWrite,
    output_tokens: written ?? text + reasoning,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    reasoning_tokens: reasoning,
  };
}

/** The Cohere package leaves these tokens where they came. */
function cachedIn(raw: LanguageModelV4Usage['raw']): number {
  const cached = raw?.['cached_tokens'];
  return typeof cached === 'number' ? cached : 0;
}
