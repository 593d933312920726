import { describe, expect, it } from '@jest/globals';
import type { EngineEvent } from '@agentd/engine';
import { manualClock } from '@agentd/contract/testing';
import type { Screen } from '../cli/screen.ts';
import { runOutput } from './run-output.ts';
import type { RunSummary } from './run-summary.ts';

function screenOf(errorsOnTerminal: boolean) {
  const printed: string[] = [];
  const told: string[] = [];
  const statuses: (string | null)[] = [];
  const screen: Screen = {
    show: (text: string) => void printed.push(text),
    print: (text) => void printed.push(text),
    tell: (line) => void told.push(line),
    status: (line) => void statuses.push(line),
    isTerminal: false,
    errorsOnTerminal,
    style: (_, text) => text,
    closed: new AbortController().signal,
  };
  return { screen, printed, told, statuses };
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
  usage: { turns: 1, input_tokens: 0, output_tokens: 0, cost_usd: null, models: {} } as never,
  duration_ms: 1,
};

describe('runOutput', () => {
  it('tells each call in one line with its outcome and duration, on a terminal only [CLI-2]', () => {
    const terminal = screenOf(true);
    const pipe = screenOf(false);
    for (const { screen } of [terminal, pipe]) {
      const { listener } = runOutput('text', screen, manualClock());
      listener.event?.(STARTED);
      listener.event?.(ENDED);
    }
    expect(terminal.told).toEqual(['✗ bash a timeout 2.5 s']);
    expect([pipe.told, pipe.printed, terminal.printed]).toEqual([[], [], []]);
  });

  it('prints the final text alone, and a failure as one line on stderr [CLI-5] [CLI-1]', () => {
    const { screen, printed, told } = screenOf(false);
    runOutput('text', screen, manualClock()).finish(SUMMARY);
    expect(printed).toEqual(['so far\n']);
    expect(told).toEqual(['agentd: the run failed: two lines']);
  });

  it('shows on a terminal what goes on, takes it away, and says how to go on [CLI-2]', () => {
    const { screen, printed, told, statuses } = screenOf(true);
    const clock = manualClock();
    const output = runOutput('text', screen, clock);
    output.listener.event?.(event('00.000', { type: 'run_started', model: 'local/m' }));
    output.begin('s');
    clock.advance(1200);
    output.finish({ ...SUMMARY, status: 'completed', error: null, exit_code: 0 });
    expect(new Set(statuses)).toEqual(new Set(['… local/m', '… local/m 1 s', null]));
    expect(statuses.at(-1)).toBeNull();
    expect(clock.pending()).toBe(0);
    expect(printed).toEqual(['so far\n']);
    expect(told).toEqual(['session s  1 turn, 1 call, 1 ms, 0 tokens in, 0 out']);
  });

  it('tells what the model says beside its calls, and why it is asked again [CLI-2]', () => {
    const { screen, told } = screenOf(true);
    const { listener } = runOutput('text', screen, manualClock());
    const said = (text: string, ...more: object[]): EngineEvent =>
      event('01.000', { type: 'model_turn_committed', content: [{ type: 'text', text }, ...more] });
    const wait = { code: 'MODEL_RATE_LIMIT', message: 'slow\ndown' };
    listener.event?.(said('I look.\u001B[2J', { type: 'tool_call' }));
    listener.event?.(said('The answer.'));
    listener.event?.(event('01.000', { type: 'attempt_abandoned', error: wait, retry_in_ms: 2000 }));
    listener.event?.(event('01.000', { type: 'attempt_abandoned', error: wait, retry_in_ms: null }));
    listener.event?.(event('01.000', { type: 'model_fallback', from: 'a/b', to: 'c/d' }));
    listener.event?.(event('01.000', { type: 'context_checkpoint_committed' }));
    expect(told).toEqual([
      '● I look.\uFFFD[2J',
      '↻ slow down; again in 2.0 s',
      '↻ goes on with c/d',
      '≡ the context was full: older turns are summed up from here on',
    ]);
  });

  it('puts the name of a subagent before what it does, and shows the root alone as what goes on [CLI-2]', () => {
    const { screen, told, statuses } = screenOf(true);
    const output = runOutput('text', screen, manualClock());
    const child = (payload: object): EngineEvent => ({ ...event('01.000', payload), session_id: 'c1' });
    output.listener.event?.(event('00.000', { type: 'run_started', model: 'local/m' }));
    output.begin('s');
    const origin = { root_id: 's', parent_id: 's' };
    output.listener.event?.(child({ type: 'session_created', handle: 'explore_1a2b3c4d', origin }));
    output.listener.event?.(child({ type: 'run_started', model: 'local/other' }));
    output.listener.live?.({ type: 'model_delta', part: { type: 'text-delta', id: '0', text: 'Hm.' } }, 'c1');
    output.listener.event?.(child({ ...STARTED.payload }));
    output.listener.event?.({ ...ENDED, session_id: 'c1' });
    output.finish({ ...SUMMARY, status: 'completed', error: null, exit_code: 0 });
    expect(told[0]).toBe('explore_1a2b3c4d ✗ bash a timeout 2.5 s');
    expect(new Set(statuses)).toEqual(new Set(['… local/m', null]));
  });

  it('says what would have let an ask pass that nobody could answer', () => {
    const { screen, told } = screenOf(false);
    const output = runOutput('text', screen, manualClock());
    for (const [id, action] of [
      ['1', 'bash'],
      ['2', 'write'],
      ['3', 'bash'],
    ]) {
      output.listener.event?.(event('01.000', { type: 'approval_requested', approval_id: id, action }));
      const end = { approval_id: id, decision: 'reject', source: 'policy' };
      output.listener.event?.(event('01.000', { type: 'approval_finalized', ...end }));
    }
    output.finish({ ...SUMMARY, status: 'completed', error: null, exit_code: 0, denials: 3 });
    expect(told).toEqual([
      'agentd: 3 calls were denied: nobody could be asked (--allow bash --allow write, or --mode yolo, answers beforehand)',
    ]);
  });

  it('holds JSON Lines back until the run has begun [CLI-5]', () => {
    const { screen, printed } = screenOf(false);
    const output = runOutput('json', screen, manualClock());
    output.listener.event?.(STARTED);
    expect(printed).toEqual([]);
    output.begin('s');
    output.listener.live?.({ type: 'tool_display', tool_call_id: 'c', text: 'x' }, 's');
    output.finish(SUMMARY);
    const lines = printed.join('').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['event', 'summary']);
  });
});
