import {
  isJsonObject,
  modelError,
  pause,
  type Clock,
  type JsonValue,
  type ModelClient,
  type ModelRequest,
  type ModelStreamPart,
  type ModelUsage,
} from '@agentd/contract';
import type { ScriptAttempts, ScriptedModel } from '../open-scripted.ts';
import { reportView } from './report-view.ts';
import type { Script, ScriptCall, ScriptPath, ScriptTurn } from './script.ts';
import { TemplateProblem, expandText, expandValue, type TemplateValues } from './template.ts';

const OUTPUT_TOKENS = 8192;

/** Past the end of the list the model goes on saying this (SCR-2). */
const END: ScriptTurn = { say: '(end of script)' };

const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

export interface Play {
  readonly model: ScriptedModel;
  readonly script: Script;
}

interface PlayPorts {
  readonly clock: Clock;
  readonly attempts: ScriptAttempts;
}

/** A model that plays a script. It keeps no cursor: the request says how many turns are committed (SCR-2). */
export function scriptedClient({ model, script }: Play, { clock, attempts }: PlayPorts): ModelClient {
  return {
    info: {
      id: model.id,
      provider: model.provider,
      model: model.model,
      family: script.family,
      input: script.input,
      toolCalling: true,
      contextTokens: script.context_tokens,
      outputTokens: OUTPUT_TOKENS,
    },
    stream: async function* (request, signal) {
      signal.throwIfAborted();
      const { session } = request;
      const position = session.turns.length;
      const turn = turnAt(script, session.agent, position);
      if (turn.delay_ms !== undefined) await pause(turn.delay_ms, clock, signal);
      const parts = partsOf({ script, request, turn, position });
      const key = [model.id, session.id, session.agent, position].join('\0');
      const failing = isFailing(turn, key, attempts);
      for (const part of failing ? failure(turn.error, parts) : parts) {
        signal.throwIfAborted();
        yield part;
      }
    },
  };
}

function turnAt({ agents, file }: Script, agent: string, position: number): ScriptTurn {
  const turns = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  if (turns !== undefined) return turns[position] ?? END;
  const known = Object.keys(agents).join(', ');
  throw modelError(
    'MODEL_REFUSED',
    `${file}: the script has no list for agent ${JSON.stringify(agent)}; it has: ${known}`,
  );
}

/** Whether this attempt is one of the first `times` at its turn. Counts it. */
function isFailing(turn: ScriptTurn, key: string, attempts: ScriptAttempts): turn is FailingTurn {
  if (turn.error === undefined) return false;
  const made = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, made);
  return made <= turn.error.times;
}

type ScriptError = NonNullable<ScriptTurn['error']>;
type FailingTurn = ScriptTurn & { readonly error: ScriptError };

function* failure(
  { kind, retry_after_ms }: ScriptError,
  parts: readonly ModelStreamPart[],
): Generator<ModelStreamPart> {
  const wait = retry_after_ms === undefined ? {} : { retryAfterMs: retry_after_ms };
  switch (kind) {
    case 'rate_limit':
      throw modelError('MODEL_RATE_LIMIT', 'the script limits the rate', { status: 429, ...wait });
    case 'server':
      throw modelError('MODEL_UNAVAILABLE', 'the script fails like a server', { status: 500, ...wait });
    case 'overflow':
      throw modelError('MODEL_CONTEXT_OVERFLOW', 'the script says that the context is full', { status: 400 });
    case 'auth':
      throw modelError('MODEL_AUTH', 'the script refuses the key', { status: 401 });
    case 'cut':
      yield* parts.slice(0, Math.floor((parts.length - 1) / 2) || Math.min(1, parts.length - 1));
      throw modelError('MODEL_UNAVAILABLE', 'the script cut the stream', wait);
  }
}

interface Scene {
  readonly script: Script;
  readonly request: ModelRequest;
  readonly turn: ScriptTurn;
  readonly position: number;
}

function partsOf(scene: Scene): ModelStreamPart[] {
  const { turn, position, script, request } = scene;
  const { calls = [], say = '', usage = NO_USAGE } = turn;
  const values = valuesOf(scene);
  const fill = filler(script, values);
  const here: ScriptPath = ['agents', request.session.agent, position];
  const text = fill([...here, 'say'], () => expandText(say, values));
  return [
    ...pieces(text).map((piece) => ({ type: 'text-delta' as const, id: '0', text: piece })),
    ...calls.map((call, index) => ({
      type: 'tool-call' as const,
      providerCallId: `script_${position}_${index}`,
      tool: call.tool,
      input: fill([...here, 'calls', index], () => inputOf(call, values)),
    })),
    { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : 'stop', usage },
  ];
}

/** `input`, and every name that an earlier turn of this session gave a call (SCR-3). */
function valuesOf({ script, request }: Scene): TemplateValues {
  const { agent, turns: committed } = request.session;
  const values = new Map<string, JsonValue>([['input', lastUserText(request)]]);
  const turns = script.agents[agent] ?? [];
  for (const [position, reports] of committed.entries()) {
    for (const [index, { as }] of (turns[position]?.calls ?? []).entries()) {
      const report = reports[index];
      if (as !== undefined && report !== undefined) values.set(as, reportView(report));
    }
  }
  return values;
}

function lastUserText({ messages }: ModelRequest): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.content.map(({ text }) => text).join('\n') : '';
}

/** Runs an expansion; a problem with a template fails the run and names its line. */
function filler(script: Script, values: TemplateValues): (path: ScriptPath, expand: () => string) => string {
  return (path, expand) => {
    try {
      return expand();
    } catch (thrown) {
      if (!(thrown instanceof TemplateProblem)) throw thrown;
      const line = script.lineOf(path, thrown.template);
      throw modelError('MODEL_REFUSED', `${script.file}:${line}: ${thrown.message}`, {
        details: { known: [...values.keys()] },
      });
    }
  };
}

function inputOf({ args = {}, raw_args }: ScriptCall, values: TemplateValues): string {
  return raw_args === undefined ? JSON.stringify(expandDeep(args, values)) : expandText(raw_args, values);
}

function expandDeep(value: JsonValue, values: TemplateValues): JsonValue {
  if (typeof value === 'string') return expandValue(value, values);
  if (Array.isArray(value)) return value.map((item: JsonValue) => expandDeep(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandDeep(item, values)]));
}

/** Word by word, so that a script streams like a model. */
function pieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}
