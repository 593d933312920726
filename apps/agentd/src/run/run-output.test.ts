import { describe, expect, it } from '@jest/globals';
import type { EngineEvent } from '@agentd/engine';
import type { Screen } from '../cli/screen.ts';
import { runOutput } from './run-output.ts';
import type { RunSummary } from './run-summary.ts';

function screenOf(errorsOnTerminal: boolean) {
  const printed: string[] = [];
  const told: string[] = [];
  const screen: Screen = {
    print: (text) => void printed.push(text),
    tell: (line) => void told.push(line),
    isTerminal: false,
    errorsOnTerminal,
    style: (_, text) => text,
    closed: new AbortController().signal,
  };
  return { screen, printed, told };
}

function event(seconds: string, payload: object): EngineEvent {
  return {
    seq: 1,
    session_id: 's',
    run_id: 'r',
    timestamp: `2026-01-01T00:00:${seconds}Z`,
    payload,
  } as never;
}

const STARTED = event('01.000', {
  type: 'tool_call_started',
  tool_call_id: 'c',
  tool: 'bash',
  label: 'a\nb',
});
const ENDED = event('03.500', {
  type: 'tool_call_terminated',
  tool_call_id: 'c',
  outcome: 'failed',
  error: { code: 'timeout', message: 'm' },
});
const SUMMARY: RunSummary = {
  type: 'summary',
  status: 'failed',
  reason: null,
  error: { code: 'X', message: 'two\nlines' },
  exit_code: 1,
  session_id: 's',
  run_id: 'r',
  final_text: 'so far\n\n',
  turns: 1,
  tool_calls: 1,
  denials: 0,
  usage: { turns: 1, input_tokens: 0, output_tokens: 0, models: {} } as never,
  duration_ms: 1,
};

describe('runOutput', () => {
  it('tells each call in one line with its outcome and duration, on a terminal only [CLI-2]', () => {
    const terminal = screenOf(true);
    const pipe = screenOf(false);
    for (const { screen } of [terminal, pipe]) {
      const { listener } = runOutput('text', screen);
      listener.event?.(STARTED);
      listener.event?.(ENDED);
    }
    expect(terminal.told).toEqual(['✗ bash a timeout 2.5 s']);
    expect([pipe.told, pipe.printed, terminal.printed]).toEqual([[], [], []]);
  });

  it('prints the final text alone, and a failure as one line on stderr [CLI-5] [CLI-1]', () => {
    const { screen, printed, told } = screenOf(false);
    runOutput('text', screen).finish(SUMMARY);
    expect(printed).toEqual(['so far\n']);
    expect(told).toEqual(['agentd: the run failed: two lines']);
  });

  it('holds JSON Lines back until the run has begun [CLI-5]', () => {
    const { screen, printed } = screenOf(false);
    const output = runOutput('json', screen);
    output.listener.event?.(STARTED);
    expect(printed).toEqual([]);
    output.begin();
    output.listener.live?.({ type: 'tool_display', tool_call_id: 'c', text: 'x' });
    output.finish(SUMMARY);
    const lines = printed.join('').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['event', 'summary']);
  });
});
