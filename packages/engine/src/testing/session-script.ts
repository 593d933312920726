import fc from 'fast-check';
import type { AssistantPart, EventEnvelope } from '@agentd/contract';
import { created, envelope } from '../file/testing/sample-events.ts';
import type { EnginePayload, EventOf } from '../events.ts';

/** One call of a turn: how far it came. */
export interface ScriptCall {
  readonly text: string;
  readonly fate: 'unstarted' | 'open' | EventOf<'tool_call_terminated'>['outcome'];
}

export interface ScriptTurn {
  readonly said: string;
  readonly reasoning: string | null;
  readonly calls: readonly ScriptCall[];
  /** Where in the turn a user spoke: before its request, or while its calls ran. */
  readonly steer: 'before' | 'during' | null;
}

export interface ScriptRun {
  readonly input: string;
  readonly turns: readonly ScriptTurn[];
  readonly end: 'run_completed' | 'run_failed' | 'run_cancelled' | 'run_interrupted' | null;
}

const text = fc.constantFrom('', ' \n', 'said', 'ä 😀', 'a\ud800b', 'nul\0', '[next_offset: 3]');
const call = fc.record<ScriptCall>({
  text,
  fate: fc.constantFrom('unstarted', 'open', 'completed', 'completed', 'failed', 'cancelled', 'interrupted'),
});
const turn = fc.record<ScriptTurn>({
  said: text,
  reasoning: fc.option(text),
  calls: fc.array(call, { maxLength: 3 }),
  steer: fc.constantFrom('before', 'during', null),
});
const run = fc.record<ScriptRun>({
  input: text,
  turns: fc.array(turn, { maxLength: 4 }),
  end: fc.constantFrom('run_completed', 'run_failed', 'run_cancelled', 'run_interrupted', null),
});

/** Runs as an engine could have had them, crashes included. */
export const scripts = fc.array(run, { minLength: 1, maxLength: 4 });

/** The events of a script, numbered from 1. Calls of a turn end in the reverse of their order. */
export function eventsOf(script: readonly ScriptRun[]): readonly EventEnvelope[] {
  const writer = new ScriptWriter();
  for (const [index, one] of script.entries()) writer.run(one, `run-${index}`);
  return writer.events;
}

class ScriptWriter {
  readonly events: EventEnvelope[] = [envelope(1, created, null)];
  #count = 0;
  #runId = '';

  run({ input, turns, end }: ScriptRun, runId: string): void {
    this.#runId = runId;
    this.#add({
      type: 'run_started',
      client_run_id: runId,
      trigger: 'user',
      agent: 'default',
      model: 'm',
      tools: [],
      prompt_sha256: '',
      mode: 'ask',
    });
    this.#say(input, 'prompt');
    for (const one of turns) this.#turn(one);
    if (end !== null) this.#end(end);
  }

  #end(end: NonNullable<ScriptRun['end']>): void {
    if (end === 'run_completed') this.#add({ type: end, final_text: '', turns: 0 });
    else if (end === 'run_failed') this.#add({ type: end, error: { code: 'x', message: 'y' } });
    else if (end === 'run_cancelled') this.#add({ type: end, reason: 'user' });
    else this.#add({ type: end });
  }

  #turn({ said, reasoning, calls, steer }: ScriptTurn): void {
    if (steer === 'before') this.#say('before', 'steer');
    const ids = calls.map(() => `p${++this.#count}`);
    const content: AssistantPart[] = [
      ...(reasoning === null ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      { type: 'text', text: said },
      ...ids.map((id) => ({ type: 'tool_call' as const, provider_call_id: id, tool: 'read', input: { id } })),
    ];
    const input_through_seq = this.events.length;
    if (steer === 'during') this.#say('during', 'steer');
    this.#add({
      type: 'model_turn_committed',
      model: 'm/1',
      content,
      finish_reason: 'stop',
      input_through_seq,
    });
    for (const [index, { fate }] of calls.entries()) if (fate !== 'unstarted') this.#start(ids[index] ?? '');
    for (const [index, one] of [...calls.entries()].toReversed()) this.#terminate(ids[index] ?? '', one);
  }

  #start(id: string): void {
    this.#add({
      type: 'tool_call_started',
      tool_call_id: `call-${id}`,
      provider_call_id: id,
      tool: 'read',
      args: {},
      action: 'read',
      label: 'a',
      output: { kind: 'single' },
    });
  }

  #terminate(id: string, { fate, text }: ScriptCall): void {
    if (fate === 'unstarted' || fate === 'open') return;
    this.#add({
      type: 'tool_call_terminated',
      tool_call_id: `call-${id}`,
      outcome: fate,
      result: {
        text: `${text}${text === 'said' ? id : ''}`,
        metadata: {},
        display: '',
        attachments: [],
        retained_output: null,
      },
      error: fate === 'completed' ? null : { code: 'cancelled', message: 'why' },
    });
  }

  #say(said: string, kind: 'prompt' | 'steer'): void {
    this.#add({ type: 'user_input_submitted', input_id: `input-${++this.#count}`, text: said, kind });
  }

  #add(payload: EnginePayload): void {
    this.events.push(envelope(this.events.length + 1, payload, this.#runId));
  }
}
