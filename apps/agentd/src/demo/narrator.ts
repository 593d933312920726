import type { EngineEvent, LiveEvent } from '@agentd/engine';
import { printable } from '../cli/printable.ts';
import type { Screen } from '../cli/screen.ts';
import { durationText, titleOf } from '../run/progress-lines.ts';
import { overlapMs, type CallWatch, type WatchedCall } from './call-watch.ts';

/** Enough to see that output comes; the rest is what previews are for. */
const LIVE_LINES = 3;
const PREVIEW_LINES = 7;
const MAX_LINE_LENGTH = 100;

/** Tells what happens, as it happens. */
export class Narrator {
  readonly #screen: Screen;
  readonly #watch: CallWatch;
  /** Handles of subagents by session. */
  readonly #names = new Map<string, string>();

  constructor(screen: Screen, watch: CallWatch) {
    this.#screen = screen;
    this.#watch = watch;
  }

  event({ session_id: id, payload }: EngineEvent): void {
    this.#meet(id, payload);
    if (payload.type === 'model_turn_committed') {
      const said = payload.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      if (said !== '') this.#said(id, said);
    }
    if (payload.type === 'tool_call_started') {
      this.#line(
        `  ${this.#nameOf(id)}${this.#screen.style('yellow', '▸')} ${titleOf(payload.tool, payload.label)}`,
      );
    }
    this.#message(id, payload);
    const call = payload.type === 'tool_call_terminated' ? this.#watch.find(payload.tool_call_id) : undefined;
    if (call !== undefined) this.#ended(call);
  }

  /** Subagents get a name before what they do. */
  #meet(id: string, payload: EngineEvent['payload']): void {
    if (payload.type === 'session_created' && payload.origin !== null) this.#names.set(id, payload.handle);
  }

  #nameOf(id: string): string {
    const name = this.#names.get(id);
    return name === undefined ? '' : this.#screen.style('dim', `${name} `);
  }

  #said(id: string, text: string): void {
    const isRoot = !this.#names.has(id);
    const shown = printable(text);
    this.#line(
      `${isRoot ? '\n' : '  '}${this.#nameOf(id)}${this.#screen.style('cyan', '●')} ${isRoot ? this.#screen.style('bold', shown) : shown}`,
    );
  }

  /** A message that its recipient now reads; packages write events beside the engine's. */
  #message(id: string, payload: { readonly type: string; readonly text?: unknown }): void {
    if (payload.type !== 'message_claimed') return;
    const [first = '', second = ''] = String(payload.text).split('\n');
    const shown = first.startsWith('<agent_message') ? second : first;
    this.#line(
      `  ${this.#nameOf(id)}${this.#screen.style('magenta', '✉')} ${shortened(shown, MAX_LINE_LENGTH)}`,
    );
  }

  live(event: LiveEvent): void {
    if (event.type !== 'tool_output') return;
    const call = this.#watch.find(event.tool_call_id);
    if (call === undefined) return;
    const left = LIVE_LINES - call.linesShown;
    const lines = event.data
      .split('\n')
      .filter((line) => line !== '')
      .slice(0, Math.max(0, left));
    for (const line of lines) this.#quiet(line);
    call.linesShown += lines.length;
  }

  #ended(call: WatchedCall): void {
    const { end } = call;
    if (end === null) return;
    const good = end.outcome === 'completed';
    const mark = this.#screen.style(good ? 'green' : 'red', good ? '✓' : '✗');
    const name = this.#nameOf(call.sessionId);
    const timing = this.#screen.style('dim', this.#timing(call));
    this.#line(`  ${name}${mark} ${titleOf(call.tool, call.label)}${timing}`);
    if (end.error !== null) this.#quiet(end.error.message);
    const diff = end.result?.metadata['diff'];
    if (typeof diff === 'string') this.#diff(diff);
    else if (call.linesShown === 0) this.#preview(end.result?.text ?? '');
    else this.#hint(end.result?.text ?? '');
  }

  /** When it ran, for calls that say so, and how long another one ran beside it. */
  #timing(call: WatchedCall): string {
    if (call.firstOutputAt === null || call.endedAt === null) return '';
    const beside = this.#watch.all.filter((other) => other !== call && overlapMs(other, call) > 0);
    const overlap = Math.max(0, ...beside.map((other) => overlapMs(other, call)));
    const together = overlap === 0 ? '' : `, ${durationText(overlap)} of it beside another call`;
    return `  ${seconds(call.firstOutputAt)} → ${seconds(call.endedAt)}${together}`;
  }

  #preview(text: string): void {
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines.slice(0, PREVIEW_LINES)) this.#quiet(line);
    if (lines.length > PREVIEW_LINES) this.#quiet(`… ${lines.length - PREVIEW_LINES} more lines`);
  }

  /** Where the output was cut, and what the model is told to do about it. */
  #hint(text: string): void {
    const marks = text.split('\n').filter((line) => /^\[… |artifact:\/\//.test(line));
    for (const line of marks) this.#line(`    ${this.#screen.style('magenta', shortened(line, 160))}`);
  }

  #diff(diff: string): void {
    const lines = diff.split('\n').filter((line) => /^[-+@ ]/.test(line) && !/^(?:---|\+\+\+) /.test(line));
    for (const line of lines) {
      const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
      this.#line(`    ${this.#screen.style(style, shortened(line, MAX_LINE_LENGTH))}`);
    }
  }

  #quiet(line: string): void {
    this.#line(this.#screen.style('dim', `    │ ${shortened(line, MAX_LINE_LENGTH)}`));
  }

  #line(text: string): void {
    this.#screen.print(`${text}\n`);
  }
}

function shortened(line: string, length: number): string {
  const shown = printable(line);
  return shown.length > length ? `${shown.slice(0, length - 1)}…` : shown;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
