import { describe, expect, it } from '@jest/globals';
import type { EngineEvent } from '@agentd/engine';
import { manualClock } from '@agentd/contract/testing';
import { LiveStatus } from './live-status.ts';

function setup() {
  const clock = manualClock();
  const status = new LiveStatus(clock.now);
  const happen = (payload: object): void => status.event({ payload } as EngineEvent);
  return { clock, happen, status };
}

const START = { type: 'tool_call_started', tool_call_id: 'a', tool: 'bash', label: 'make' };
const end = (id: string): object => ({ type: 'tool_call_terminated', tool_call_id: id });
const delta = (text: string) =>
  ({ type: 'model_delta', part: { type: 'text-delta', id: '0', text } }) as const;

describe('LiveStatus', () => {
  it('says which model is waited for, how long, and the last line of what it says [CLI-2]', () => {
    const { clock, happen, status } = setup();
    expect(status.text()).toBeNull();
    happen({ type: 'run_started', model: 'local/m' });
    expect(status.text()).toBe('… local/m');
    clock.advance(2900);
    status.live(delta('First.\nSec'));
    status.live(delta('ond'));
    expect(status.text()).toBe('… local/m 2 s │ Second');
  });

  it('forgets what an abandoned attempt said', () => {
    const { happen, status } = setup();
    happen({ type: 'run_started', model: 'local/m' });
    status.live(delta('Half a'));
    happen({ type: 'attempt_abandoned', model: 'local/m' });
    expect(status.text()).toBe('… local/m');
  });

  it('says what runs, with its last output, and goes back to the model [CLI-2]', () => {
    const { clock, happen, status } = setup();
    happen({ type: 'run_started', model: 'local/m' });
    happen(START);
    happen({ ...START, tool_call_id: 'b', label: 'ls' });
    const output = { type: 'tool_output', tool_call_id: 'a', stream: 'stdout', offset: 0 } as const;
    status.live({ ...output, data: 'one\ntwo\n' });
    clock.advance(1000);
    expect(status.text()).toBe('▸ bash make (and 1 more) 1 s │ two');
    happen(end('a'));
    expect(status.text()).toBe('▸ bash ls 1 s');
    happen(end('b'));
    expect(status.text()).toBe('… local/m');
  });
});
