import type { Clock, SessionId } from '@agentd/contract';
import type { EngineEvent, LiveEvent, SessionListener } from '@agentd/engine';
import { counted } from '../cli/counted.ts';
import { oneLine } from '../cli/one-line.ts';
import type { Screen } from '../cli/screen.ts';
import type { RunSummary } from './run-summary.ts';
import { TerminalProgress } from './terminal-progress.ts';
import { UnansweredAsks } from './unanswered-asks.ts';

export type OutputFormat = 'text' | 'json' | 'none';

/** What a run shows. Nothing reaches stdout before `begin`, so that a failed set-up leaves no half output. */
export interface RunOutput {
  readonly listener: SessionListener;
  /** The run of this root has started: what came so far is shown. */
  readonly begin: (rootId: SessionId) => void;
  readonly finish: (summary: RunSummary) => void;
}

export function runOutput(format: OutputFormat, screen: Screen, clock: Clock): RunOutput {
  return format === 'json' ? jsonLines(screen) : finalText(format, screen, clock);
}

/** One JSON object a line and nothing else (CLI-5). */
function jsonLines(screen: Screen): RunOutput {
  let held: string[] | null = [];
  const write = (value: unknown): void => {
    const line = `${JSON.stringify(value)}\n`;
    if (held === null) screen.print(line);
    else held.push(line);
  };
  return {
    listener: {
      event: (event: EngineEvent) => write({ type: 'event', event }),
      live: (live: LiveEvent) => {
        if (live.type === 'tool_output') write(live);
      },
    },
    begin: () => {
      const lines = held ?? [];
      held = null;
      screen.print(lines.join(''));
    },
    finish: write,
  };
}

/** The final text alone; on a terminal, what happens goes to stderr meanwhile. */
function finalText(format: 'text' | 'none', screen: Screen, clock: Clock): RunOutput {
  const progress = screen.errorsOnTerminal && format === 'text' ? new TerminalProgress(screen, clock) : null;
  const unasked = new UnansweredAsks();
  return {
    listener: {
      event: (event) => {
        unasked.event(event);
        progress?.event(event);
      },
      live: (live, sessionId) => progress?.live(live, sessionId),
    },
    begin: (rootId) => progress?.begin(rootId),
    finish: (summary) => {
      progress?.stop();
      if (format === 'text' && summary.final_text !== '') screen.show(`${summary.final_text.trimEnd()}\n`);
      progress?.close(summary);
      const remark = remarkOn(summary, format === 'text' ? unasked.advice() : null);
      if (remark !== null) screen.tell(`agentd: ${remark}`);
    },
  };
}

function remarkOn({ status, reason, error, ...rest }: RunSummary, advice: string | null): string | null {
  if (status === 'failed') return oneLine(`the run failed: ${error?.message ?? 'for an unknown reason'}`);
  if (status === 'cancelled') return `the run was cancelled: ${REASONS[reason ?? ''] ?? reason}`;
  if (rest.exit_code === 0 && advice === null) return null;
  return `${counted(rest.denials, 'call was', 'calls were')} denied${advice === null ? '' : `: ${advice}`}`;
}

const REASONS: Readonly<Record<string, string>> = {
  signal: 'by a signal',
  timeout: 'its time was up (--timeout)',
  turn_limit: 'its turns were used up (--max-turns)',
};
