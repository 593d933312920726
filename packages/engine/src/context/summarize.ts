import { codeOf, type Clock, type ModelInfo } from '@agentd/contract';
import type { EventOf } from '../events.ts';
import type { ModelAttempts } from '../model-attempts.ts';
import type { EventSink } from '../ports.ts';
import { textOf } from '../run-ledger.ts';
import type { Step } from '../session-state.ts';
import { costOf } from '../usage-cost.ts';
import { bytesOf, fixedTokens } from './estimate.ts';
import { beginning } from './shorten.ts';
import { summaryRequest, type SummaryQuestion } from './summary-request.ts';
import { transcript } from './transcript.ts';

export interface SummarizePorts {
  readonly clock: Clock;
  readonly sink: EventSink;
}

export interface SummaryTask extends Omit<SummaryQuestion, 'transcript'> {
  readonly steps: readonly Step[];
  readonly info: ModelInfo;
  /** Shows nothing and knows the one model (`ModelAttempts.aside`). */
  readonly attempts: ModelAttempts;
}

export interface Summary {
  readonly text: string;
  /** Null where no model wrote it. */
  readonly model: string | null;
  readonly usage: EventOf<'model_usage_recorded'> | null;
}

/** A model that has not summarized by then is left. */
const SUMMARY_TIMEOUT_MS = 180_000;

/** More text makes no better summary. */
const LONGEST_TRANSCRIPT = 256 * 1024;

/** Dense text has fewer bytes a token than the estimate of sizes goes by. */
const DENSE_BYTES_OF_A_TOKEN = 3;

/** After so many failures in a row a run asks no more. */
const MOST_FAILURES = 3;

/** No word on the question: the next request would meet the same, and another time may be better. */
const PASSED_ON: ReadonlySet<string> = new Set([
  'ENGINE_LOG_FAILED',
  'MODEL_RATE_LIMIT',
  'MODEL_OVERLOADED',
  'MODEL_UNAVAILABLE',
  'MODEL_AUTH',
]);

/** Writes summaries for checkpoints. One for each run. */
export class Summarizer {
  readonly #ports: SummarizePorts;
  #failures = 0;

  constructor(ports: SummarizePorts) {
    this.#ports = ports;
  }

  /**
   * What some turns amount to. Where the model gives no summary, the turns themselves, shortened: a session must not
   * be lost because of that. Throws the signal's reason, what the log throws, and the model error where the provider
   * is out of reach for now: then nothing is worth writing down.
   */
  async write(task: SummaryTask, signal: AbortSignal): Promise<Summary> {
    if (this.#failures >= MOST_FAILURES) return unwritten(task);
    this.#failures += 1;
    const written = await this.#ask(task, signal);
    if (written === null) return unwritten(task);
    this.#failures = 0;
    return written;
  }

  /** Asks twice where even the request for the summary is too large. */
  async #ask(task: SummaryTask, signal: AbortSignal): Promise<Summary | null> {
    const maxBytes = transcriptBytes(task);
    for (const bytes of [maxBytes, Math.floor(maxBytes / 3)]) {
      try {
        return await this.#askOnce({ ...task, transcript: transcript(task.steps, bytes) }, signal);
      } catch (thrown) {
        signal.throwIfAborted();
        const code = codeOf(thrown);
        if (code !== undefined && PASSED_ON.has(code)) throw thrown;
        if (code !== 'MODEL_CONTEXT_OVERFLOW') return null;
      }
    }
    return null;
  }

  async #askOnce(task: SummaryTask & SummaryQuestion, signal: AbortSignal): Promise<Summary | null> {
    const late = new AbortController();
    const stopTimer = this.#ports.clock.after(SUMMARY_TIMEOUT_MS, () => late.abort('timeout'));
    try {
      const request = summaryRequest(task);
      const { client, reducer } = await task.attempts.turn(
        () => request,
        AbortSignal.any([signal, late.signal]),
      );
      const { content, usage } = reducer.turn((id) => id);
      const { id: model, pricing } = client.info;
      const recorded = {
        type: 'model_usage_recorded',
        model,
        ...usage,
        cost_usd: costOf(usage, pricing),
      } as const;
      const text = beginning(textOf(content).trim(), bytesOf(2 * task.maxOutputTokens));
      if (text !== '') return { text, model, usage: recorded };
      // It was paid for all the same (SES-10).
      this.#ports.sink.append(recorded);
      return null;
    } finally {
      stopTimer();
    }
  }
}

function transcriptBytes({ info, maxOutputTokens, earlier }: SummaryTask): number {
  const { system } = summaryRequest({ ...NO_QUESTION, maxOutputTokens });
  const taken = fixedTokens({ system, tools: [] }) + maxOutputTokens;
  const bytes = (info.contextTokens - taken) * DENSE_BYTES_OF_A_TOKEN - Buffer.byteLength(earlier ?? '');
  return Math.max(1024, Math.min(LONGEST_TRANSCRIPT, bytes - 500));
}

const NO_QUESTION = { sessionId: '', checkpoints: 0, earlier: null, transcript: '' } as const;

function unwritten(task: SummaryTask): Summary {
  return { text: shortened(task), model: null, usage: null };
}

function shortened({ steps, earlier, maxOutputTokens }: SummaryTask): string {
  const bytes = bytesOf(maxOutputTokens);
  const before = earlier === null ? '' : `${beginning(earlier, Math.floor(bytes / 2))}\n\n`;
  const left = bytes - Buffer.byteLength(before);
  return `${before}Nobody summarized these turns; this is what is left of them:\n\n${transcript(steps, left)}`;
}
