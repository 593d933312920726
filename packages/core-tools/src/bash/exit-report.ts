import { constants } from 'node:os';
import type { ToolCompletion, ToolError } from '@agentd/contract';
import type { CommandEnd } from './command-run.ts';

/** What a shell adds to the number of a signal to make an exit code of it. */
const SIGNAL_BASE = 128;

/** The completion of a command whose output was streamed (BASH-5). */
export function exitReport(end: CommandEnd, timeoutMs: number): ToolCompletion {
  const error = errorOf(end, timeoutMs);
  return {
    output: { kind: 'streamed' },
    ...(error === undefined ? {} : { error }),
    closingLine: closingLine(end, timeoutMs),
    metadata: {
      exit_code: exitCode(end),
      signal: end.signal,
      timed_out: end.cause === 'timeout',
      duration_ms: Math.round(end.durationMs),
    },
  };
}

function errorOf({ cause, signal }: CommandEnd, timeoutMs: number): ToolError | undefined {
  if (cause === 'timeout') {
    const message = `the command took longer than ${timeoutMs} ms and was stopped with all its processes; give a larger "timeout" (milliseconds) or run less at once`;
    return { code: 'timeout', message };
  }
  if (cause === 'cancel') {
    return {
      code: 'cancelled',
      message: 'the call was cancelled; the command was stopped with all its processes',
    };
  }
  return signal === null ? undefined : { code: 'signal', message: `the command was ended by ${signal}` };
}

function closingLine({ cause, signal, code }: CommandEnd, timeoutMs: number): string {
  if (cause === 'timeout') return `timed out after ${timeoutMs} ms`;
  return signal === null ? `exit code: ${code}` : `signal: ${signal}`;
}

function exitCode({ signal, code }: CommandEnd): number | null {
  return signal === null ? code : SIGNAL_BASE + constants.signals[signal];
}
