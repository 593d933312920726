import type { Clock, SessionId } from '@agentd/contract';
import type { EngineEvent, LiveEvent } from '@agentd/engine';
import { counted } from '../cli/counted.ts';
import type { Screen } from '../cli/screen.ts';
import { LiveStatus } from './live-status.ts';
import { durationText, ProgressLines } from './progress-lines.ts';
import type { RunSummary } from './run-summary.ts';

/** Often enough to feel alive, seldom enough to cost nothing. */
const REFRESH_MS = 200;
/** As much of an id as tells sessions apart. */
const SHORT_ID_LENGTH = 8;

/** What a person at a terminal sees of a run: lines for what has happened, and one for what goes on. */
export class TerminalProgress {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #status: LiveStatus;
  readonly #lines = new Map<SessionId, ProgressLines>();
  #rootId: SessionId | null = null;
  #cancelTick: () => void = () => undefined;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
    this.#status = new LiveStatus(clock.now);
  }

  event(event: EngineEvent): void {
    if (this.#isRoot(event.session_id)) this.#status.event(event);
    this.#linesOf(event).show(event);
  }

  live(event: LiveEvent, sessionId: SessionId): void {
    if (this.#isRoot(sessionId)) this.#status.live(event);
  }

  begin(rootId: SessionId): void {
    this.#rootId = rootId;
    this.#tick();
  }

  #tick(): void {
    this.#screen.status(this.#status.text());
    this.#cancelTick = this.#clock.after(REFRESH_MS, () => this.#tick());
  }

  #isRoot(sessionId: SessionId): boolean {
    return this.#rootId === null || sessionId === this.#rootId;
  }

  /** What subagents do stands behind their handle. */
  #linesOf({ session_id: id, payload }: EngineEvent): ProgressLines {
    let lines = this.#lines.get(id);
    if (lines === undefined) {
      const name = payload.type === 'session_created' ? payload.handle : id.slice(0, SHORT_ID_LENGTH);
      const isChild = payload.type === 'session_created' ? payload.origin !== null : !this.#isRoot(id);
      lines = new ProgressLines(this.#screen, isChild ? `${name} ` : '');
      this.#lines.set(id, lines);
    }
    return lines;
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
