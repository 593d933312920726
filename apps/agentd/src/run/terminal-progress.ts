import type { Clock } from '@agentd/contract';
import type { EngineEvent, LiveEvent } from '@agentd/engine';
import { counted } from '../cli/counted.ts';
import type { Screen } from '../cli/screen.ts';
import { LiveStatus } from './live-status.ts';
import { durationText, ProgressLines } from './progress-lines.ts';
import type { RunSummary } from './run-summary.ts';

/** Often enough to feel alive, seldom enough to cost nothing. */
const REFRESH_MS = 200;

/** What a person at a terminal sees of a run: lines for what has happened, and one for what goes on. */
export class TerminalProgress {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #lines: ProgressLines;
  readonly #status: LiveStatus;
  #cancelTick: () => void = () => undefined;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
    this.#lines = new ProgressLines(screen);
    this.#status = new LiveStatus(clock.now);
  }

  event(event: EngineEvent): void {
    this.#status.event(event);
    this.#lines.show(event);
  }

  live(event: LiveEvent): void {
    this.#status.live(event);
  }

  begin(): void {
    this.#screen.status(this.#status.text());
    this.#cancelTick = this.#clock.after(REFRESH_MS, () => this.begin());
  }

  stop(): void {
    this.#cancelTick();
    this.#screen.status(null);
  }

  /** The last line: what it took, and the name under which it can go on. */
  close({ session_id: session, turns, tool_calls: calls, duration_ms: ms, usage }: RunSummary): void {
    const cost = usage.cost_usd === null ? [] : [`$${usage.cost_usd.toFixed(4)}`];
    const parts = [
      counted(turns, 'turn'),
      counted(calls, 'call'),
      durationText(ms),
      `${usage.input_tokens} tokens in`,
      `${usage.output_tokens} out`,
      ...cost,
    ];
    this.#screen.tell(this.#screen.style('dim', `session ${session}  ${parts.join(', ')}`));
  }
}
