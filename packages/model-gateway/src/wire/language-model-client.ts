import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4ProviderOptions } from '@ai-sdk/provider';
import {
  pause,
  type Clock,
  type ModelClient,
  type ModelRequest,
  type ModelStreamPart,
} from '@agentd/contract';
import type { AdaptorSetup } from '../adaptor.ts';
import { placeMedia } from '../media/place-media.ts';
import { modelFault } from './model-fault.ts';
import { promptOf, type PromptShape } from './prompt.ts';
import { CutStream, StreamReducer, type StreamForm } from './stream-reducer.ts';
import { toolsFor } from './tool-schemas.ts';

export interface Wire {
  readonly model: LanguageModelV4;
  readonly shape: PromptShape;
  /** Whether the wire cannot do without a limit of the answer. */
  readonly needsOutputLimit: boolean;
  /** Options of the provider package for every request. */
  readonly providerOptions?: SharedV4ProviderOptions;
  readonly form?: StreamForm;
}

/** After the last part the body is read to its end, so that the connection can serve again; but not for long. */
const DRAIN_MS = 200;

/**
 * Many servers refuse a request whose prompt and limit together exceed the window. A limit that would take a larger part
 * of it stays away where the wire can do without: what the server does by itself is then right more often.
 */
const MOST_OF_WINDOW = 1 / 4;

/** A client that drives a provider package at its lowest level: one request, one stream, no retries. */
export function languageModelClient(setup: AdaptorSetup, wire: Wire): ModelClient {
  return { info: setup.info, stream: (request, signal) => attempt({ setup, wire, request }, signal) };
}

interface Attempt {
  readonly setup: AdaptorSetup;
  readonly wire: Wire;
  readonly request: ModelRequest;
}

async function* attempt(
  { setup, wire, request }: Attempt,
  signal: AbortSignal,
): AsyncGenerator<ModelStreamPart> {
  signal.throwIfAborted();
  const { providerOptions } = wire;
  const placed = await placeMedia(request, setup, signal);
  const tools = toolsFor(setup.info.family, request.tools);
  const asked = {
    ...promptOf({ ...request, ...placed, tools }, wire.shape),
    ...outputLimit(request, setup, wire),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
  try {
    const { stream } = await orAborted(wire.model.doStream({ ...asked, abortSignal: signal }), signal);
    for await (const part of partsOf({ stream, form: wire.form }, setup.clock, signal)) {
      // Before the last part is passed on: who has it need not ask for more.
      if (part.type === 'finish') setup.memory.take(placed.files.keys());
      yield part;
    }
  } catch (thrown) {
    // The packages wrap an abort in errors of their own, so the signal is asked first.
    if (signal.aborted) throw signal.reason;
    throw setup.memory.faultOf(modelFault(thrown, setup), [...placed.files.keys()]);
  }
}

/** What comes before the request, e.g. asking for a token, may not know the signal; nobody waits for it after an abort. */
function orAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).then(
      () => signal.removeEventListener('abort', leave),
      () => undefined,
    );
  });
}

function outputLimit(
  { maxOutputTokens }: ModelRequest,
  { info, outputLimitKnown }: AdaptorSetup,
  { needsOutputLimit }: Wire,
): { readonly maxOutputTokens?: number } {
  if (maxOutputTokens !== undefined) return { maxOutputTokens };
  const { contextTokens, outputTokens } = info;
  const fits = outputLimitKnown && outputTokens <= contextTokens * MOST_OF_WINDOW;
  return fits || needsOutputLimit ? { maxOutputTokens: outputTokens } : {};
}

interface Answer {
  readonly stream: ReadableStream<LanguageModelV4StreamPart>;
  readonly form: StreamForm | undefined;
}

async function* partsOf(
  { stream, form }: Answer,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ModelStreamPart> {
  const reader = stream.getReader();
  const reducer = new StreamReducer(form);
  let whole = false;
  try {
    while (!whole) {
      const { done, value } = await reader.read();
      // What was buffered before an abort is not passed on after it.
      signal.throwIfAborted();
      if (done) throw new CutStream('the stream ended before the turn was whole');
      const part = reducer.next(value);
      whole = part?.type === 'finish';
      if (part !== undefined) yield part;
    }
  } finally {
    if (whole) await drain(reader, clock);
    await reader.cancel().catch(() => undefined);
  }
}

/** Whatever happens after the last part changes nothing about the turn. */
async function drain(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  clock: Clock,
): Promise<void> {
  const stop = new AbortController();
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  await Promise.race([
    rest().catch(() => undefined),
    pause(DRAIN_MS, clock, stop.signal).catch(() => undefined),
  ]);
  stop.abort();
}
