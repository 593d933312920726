import {
  isModelError,
  modelError,
  pause,
  type AgentdError,
  type Clock,
  type Ids,
  type ModelClient,
  type ModelErrorCode,
  type ModelRequest,
} from '@agentd/contract';
import { attemptStream } from './attempt-stream.ts';
import type { EnginePayload } from './events.ts';
import { orAbort } from './or-abort.ts';
import type { EngineSettings, EventSink, LiveListener, ModelSource } from './ports.ts';
import { faultOf } from './fault.ts';
import { RetryPlan, type FailedAttempt } from './retry-plan.ts';
import { StreamReducer } from './stream-reducer.ts';

export interface ModelAttemptsPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly models: ModelSource;
  readonly sink: EventSink;
  readonly live: LiveListener;
  readonly retry: EngineSettings['retry'];
}

/** A whole turn of one model, not yet committed. */
export interface WholeTurn {
  readonly client: ModelClient;
  readonly reducer: StreamReducer;
}

type AttemptOutcome =
  | { readonly ok: true; readonly reducer: StreamReducer }
  | { readonly ok: false; readonly error: AgentdError<ModelErrorCode> };

interface LastAttempt {
  readonly error: AgentdError<ModelErrorCode>;
  readonly attempt: number;
}

interface Abandoned {
  readonly model: string;
  readonly attempt: number;
  readonly error: unknown;
  readonly waitMs: number | null;
}

/** What a turn is asked with; it may depend on what the model can do (ARG-1). */
export type RequestFor = (client: ModelClient) => ModelRequest;

/**
 * Gets turns from the first model of a chain that gives one (SES-9). One for each run.
 *   A1. Rate limits, overload and 5xx are tried again with the same model, as `RetryPlan` says.
 *   A2. When that is used up, or the model refuses, the next model of the chain follows; it stays for the rest of the run.
 *   A3. An overflow, and what is no model error, fails at once: whoever asks may make room and ask again.
 *   A4. Nothing of an abandoned attempt is returned.
 * Events: `model_attempt_started` from the second attempt of a turn on (the first one would double every turn),
 * `attempt_abandoned` for each that failed, `model_fallback` for each step along the chain.
 */
export class ModelAttempts {
  readonly #ports: ModelAttemptsPorts;
  readonly #chain: readonly string[];
  #position = 0;
  #client: ModelClient;

  /** `first` is the opened first model of `chain`. */
  constructor(ports: ModelAttemptsPorts, chain: readonly string[], first: ModelClient) {
    this.#ports = ports;
    this.#chain = chain;
    this.#client = first;
  }

  /** The model that the next turn is asked of. */
  get client(): ModelClient {
    return this.#client;
  }

  /** For a question whose answer is no turn: the same model alone, and nothing of it is shown. */
  aside(): ModelAttempts {
    const ports = { ...this.#ports, live: () => undefined };
    return new ModelAttempts(ports, [this.#client.info.id], this.#client);
  }

  /** One turn. Throws the last model error, the signal's reason, or whatever else a client threw. */
  async turn(requestFor: RequestFor, signal: AbortSignal): Promise<WholeTurn> {
    let plan = this.#newPlan();
    for (let attempt = 1; ; attempt += 1) {
      if (attempt > 1) this.#append({ type: 'model_attempt_started', model: this.#client.info.id, attempt });
      const outcome = await this.#attempt(requestFor, signal);
      if (outcome.ok) return { client: this.#client, reducer: outcome.reducer };

      const { error } = outcome;
      const waitMs = plan.next(failureOf(error));
      this.#abandon({ model: this.#client.info.id, attempt, error, waitMs });
      if (waitMs === null) {
        await this.#fallBack({ error, attempt }, signal);
        plan = this.#newPlan();
      }
      // Whoever watches is told before the wait, not after it.
      await this.#ports.sink.sync();
      signal.throwIfAborted();
      if (waitMs !== null) await pause(waitMs, this.#ports.clock, signal);
    }
  }

  async #attempt(requestFor: RequestFor, signal: AbortSignal): Promise<AttemptOutcome> {
    const reducer = new StreamReducer();
    try {
      for await (const part of attemptStream(this.#client, requestFor(this.#client), signal)) {
        reducer.add(part);
        this.#ports.live({ type: 'model_delta', part });
      }
      reducer.assertWhole();
      return { ok: true, reducer };
    } catch (thrown) {
      signal.throwIfAborted();
      if (!isModelError(thrown)) throw thrown;
      return { ok: false, error: thrown };
    }
  }

  /** Moves on to the next model of the chain that opens; throws `error` where there is none. */
  async #fallBack({ error, attempt }: LastAttempt, signal: AbortSignal): Promise<void> {
    if (error.code === 'MODEL_CONTEXT_OVERFLOW') throw overflowError(this.#client, error);
    const from = this.#client.info.id;
    for (const model of this.#chain.slice(this.#position + 1)) {
      this.#position += 1;
      try {
        this.#client = await orAbort(() => this.#ports.models.open(model), signal);
      } catch (thrown) {
        signal.throwIfAborted();
        this.#abandon({ model, attempt, error: thrown, waitMs: null });
        continue;
      }
      this.#append({ type: 'model_fallback', from, to: this.#client.info.id });
      return;
    }
    throw error;
  }

  #abandon({ model, attempt, error, waitMs }: Abandoned): void {
    const { code, message } = faultOf(error);
    const refused = refusedFilesOf(error);
    this.#append({
      type: 'attempt_abandoned',
      model,
      attempt,
      error: { code, message },
      retry_in_ms: waitMs,
      ...(refused.length === 0 ? {} : { refused_files: refused }),
    });
  }

  #append(payload: EnginePayload): void {
    this.#ports.sink.append(payload);
  }

  #newPlan(): RetryPlan {
    return new RetryPlan(this.#ports.retry, this.#ports.ids);
  }
}

function failureOf(error: AgentdError<ModelErrorCode>): FailedAttempt {
  const wait = error.details?.['retryAfterMs'];
  return { code: error.code, retryAfterMs: typeof wait === 'number' && wait > 0 ? wait : undefined };
}

/** What the next attempts are to go without, for the log: another process must not send it again. */
function refusedFilesOf(error: unknown): string[] {
  const files = isModelError(error) ? error.details?.['refusedFiles'] : undefined;
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [];
}

/** Seen by users only where making room did not help, or there was nothing to take out. */
function overflowError({ info }: ModelClient, cause: AgentdError): AgentdError {
  return modelError(
    'MODEL_CONTEXT_OVERFLOW',
    `the conversation no longer fits the context of ${info.id} (${info.contextTokens} tokens), not even with its older ` +
      'part taken out: start a new session, or continue with a model that has a larger context',
    { cause },
  );
}
