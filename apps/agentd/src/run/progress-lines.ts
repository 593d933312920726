import type { EngineEvent, EventOf } from '@agentd/engine';
import { oneLine } from '../cli/one-line.ts';
import { printable } from '../cli/printable.ts';
import type { Screen } from '../cli/screen.ts';

/** A longer label says no more at a glance. */
const MAX_LABEL_LENGTH = 72;

interface OpenCall {
  readonly title: string;
  readonly startedAt: number;
}

/** Lines on stderr: what the model says beside its calls, each call as it ends, and why a model is asked again. */
export class ProgressLines {
  readonly #screen: Screen;
  readonly #prefix: string;
  readonly #open = new Map<string, OpenCall>();

  /** `prefix` stands before every line: the name of a subagent, or nothing. */
  constructor(screen: Screen, prefix = '') {
    this.#screen = screen;
    this.#prefix = prefix === '' ? '' : screen.style('dim', printable(prefix));
  }

  show({ payload, timestamp }: EngineEvent): void {
    switch (payload.type) {
      case 'model_turn_committed':
        return this.#said(payload.content);
      case 'attempt_abandoned':
        return this.#abandoned(payload);
      case 'model_fallback':
        return this.#line('yellow', '↻', `goes on with ${payload.to}`);
      case 'context_checkpoint_committed':
        return this.#line('yellow', '≡', 'the context was full: older turns are summed up from here on');
      case 'tool_call_started': {
        const title = titleOf(payload.tool, payload.label);
        this.#open.set(payload.tool_call_id, { title, startedAt: Date.parse(timestamp) });
        return;
      }
      case 'tool_call_terminated':
        return this.#ended(payload, Date.parse(timestamp));
      default:
    }
  }

  /** The last turn has no calls: its text is the answer, which goes to stdout. */
  #said(content: EventOf<'model_turn_committed'>['content']): void {
    if (!content.some(({ type }) => type === 'tool_call')) return;
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text.trim() !== '') this.#line('cyan', '●', printable(text.trim()));
  }

  #abandoned({ error, retry_in_ms: wait }: EventOf<'attempt_abandoned'>): void {
    if (wait !== null)
      this.#line('yellow', '↻', `${printable(oneLine(error.message))}; again in ${durationText(wait)}`);
  }

  #ended({ tool_call_id: id, outcome, error }: EventOf<'tool_call_terminated'>, endedAt: number): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const why = error === null ? '' : ` ${error.code}`;
    const timing = this.#screen.style('dim', `${why} ${durationText(endedAt - call.startedAt)}`);
    const [colour, mark] = outcome === 'completed' ? (['green', '✓'] as const) : (['red', '✗'] as const);
    this.#line(colour, mark, `${call.title}${timing}`);
  }

  #line(colour: 'green' | 'red' | 'yellow' | 'cyan', mark: string, text: string): void {
    this.#screen.tell(`${this.#prefix}${this.#screen.style(colour, mark)} ${text}`);
  }
}

/** A tool and what it is about, on one line. */
export function titleOf(tool: string, label: string | null): string {
  const [first = ''] = (label ?? '').split('\n');
  const short = first.length > MAX_LABEL_LENGTH ? `${first.slice(0, MAX_LABEL_LENGTH - 1)}…` : first;
  return printable(`${tool} ${short}`.trimEnd());
}

/** Seconds with one decimal, or milliseconds below a tenth of one. */
export function durationText(ms: number): string {
  return ms < 100 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
