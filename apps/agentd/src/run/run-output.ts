import type { EngineEvent, LiveEvent, SessionListener } from '@agentd/engine';
import { oneLine } from '../cli/one-line.ts';
import type { Screen } from '../cli/screen.ts';
import { ProgressLines } from './progress-lines.ts';
import type { RunSummary } from './run-summary.ts';

export type OutputFormat = 'text' | 'json' | 'none';

/** What a run shows. Nothing reaches stdout before `begin`, so that a failed set-up leaves no half output. */
export interface RunOutput {
  readonly listener: SessionListener;
  /** The run has started: what came so far is shown. */
  readonly begin: () => void;
  readonly finish: (summary: RunSummary) => void;
}

export function runOutput(format: OutputFormat, screen: Screen): RunOutput {
  return format === 'json' ? jsonLines(screen) : finalText(format, screen);
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

/** The final text alone; on a terminal, a line for each call on stderr. */
function finalText(format: 'text' | 'none', screen: Screen): RunOutput {
  const progress = screen.errorsOnTerminal && format === 'text' ? new ProgressLines(screen) : null;
  return {
    listener: progress === null ? {} : { event: (event) => progress.show(event) },
    begin: () => undefined,
    finish: (summary) => {
      if (format === 'text' && summary.final_text !== '') screen.print(`${summary.final_text.trimEnd()}\n`);
      const fault = faultLine(summary);
      if (fault !== null) screen.tell(`agentd: ${fault}`);
    },
  };
}

function faultLine({ status, reason, error, exit_code: exitCode, denials }: RunSummary): string | null {
  if (status === 'failed') return oneLine(`the run failed: ${error?.message ?? 'for an unknown reason'}`);
  if (status === 'cancelled') return `the run was cancelled: ${REASONS[reason ?? ''] ?? reason}`;
  return exitCode === 0 ? null : `${denials} call${denials === 1 ? ' was' : 's were'} denied`;
}

const REASONS: Readonly<Record<string, string>> = {
  signal: 'by a signal',
  timeout: 'its time was up (--timeout)',
  turn_limit: 'its turns were used up (--max-turns)',
};
