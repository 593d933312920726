import type { EngineEvent } from '@agentd/engine';
import { printable } from '../cli/print-rows.ts';
import type { Screen } from '../cli/screen.ts';

/** A longer label says no more at a glance. */
const MAX_LABEL_LENGTH = 72;

interface OpenCall {
  readonly title: string;
  readonly startedAt: number;
}

/** One line on stderr for each call that ends: what it was, how it ended, how long it took. */
export class ProgressLines {
  readonly #screen: Screen;
  readonly #open = new Map<string, OpenCall>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show({ payload, timestamp }: EngineEvent): void {
    if (payload.type === 'tool_call_started') {
      const title = titleOf(payload.tool, payload.label);
      this.#open.set(payload.tool_call_id, { title, startedAt: Date.parse(timestamp) });
    }
    if (payload.type !== 'tool_call_terminated') return;
    const call = this.#open.get(payload.tool_call_id);
    if (call === undefined) return;
    const mark = payload.outcome === 'completed' ? this.#style('green', '✓') : this.#style('red', '✗');
    const why = payload.error === null ? '' : ` ${payload.error.code}`;
    const duration = durationText(Date.parse(timestamp) - call.startedAt);
    this.#screen.tell(`${mark} ${call.title}${this.#style('dim', `${why} ${duration}`)}`);
  }

  #style(style: 'green' | 'red' | 'dim', text: string): string {
    return this.#screen.style(style, text);
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
