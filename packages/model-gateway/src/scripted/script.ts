import { LineCounter, isNode, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import { messageOf, type AgentdError } from '@agentd/contract';
import { gatewayError, type GatewayErrorCode } from '../errors.ts';

const count = z.int().nonnegative();

const callSchema = z
  .strictObject({
    tool: z.string().min(1),
    args: z.record(z.string(), z.json()).optional(),
    raw_args: z.string().optional(),
    as: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, _ and -')
      .optional(),
  })
  .refine(({ args, raw_args }) => args === undefined || raw_args === undefined, {
    message: 'takes args or raw_args, not both',
  })
  .refine(({ as }) => as !== 'input', {
    message: 'as: input is the name of the last user text; take another',
  });

const turnSchema = z.strictObject({
  say: z.string().optional(),
  calls: z.array(callSchema).optional(),
  delay_ms: count.optional(),
  usage: z
    .strictObject({
      input_tokens: count.default(0),
      output_tokens: count.default(0),
      cache_read_tokens: count.default(0),
      cache_write_tokens: count.default(0),
      reasoning_tokens: count.default(0),
    })
    .optional(),
  error: z
    .strictObject({
      kind: z.enum(['rate_limit', 'server', 'overflow', 'auth', 'cut']),
      times: z.int().positive().default(1),
      retry_after_ms: count.optional(),
    })
    .optional(),
});

const scriptSchema = z.strictObject({
  input: z
    .array(z.enum(['text', 'image', 'pdf', 'audio', 'video']))
    .min(1)
    .default(['text']),
  context_tokens: z.int().positive().default(200_000),
  family: z.string().min(1).default('openai-chat'),
  agents: z.record(z.string(), z.array(turnSchema)),
});

export type ScriptTurn = z.output<typeof turnSchema>;
export type ScriptCall = z.output<typeof callSchema>;

/** A place in a script, e.g. `['agents', 'default', 2, 'say']`. */
export type ScriptPath = readonly (string | number)[];

export interface Script extends z.output<typeof scriptSchema> {
  /** As the user named it. */
  readonly file: string;
  /** The one-based line of a text inside the value at a place, or of the value. */
  readonly lineOf: (path: ScriptPath, text?: string) => number;
}

/** Reads a script. Throws `GATEWAY_SCRIPT_INVALID` with file, line and what is wrong (SCR-1). */
export function parseScript(source: string, file: string): Script {
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter, uniqueKeys: true, prettyErrors: false });
  const lineAt = (offset: number): number => Math.max(1, counter.linePos(offset).line);
  const [fault] = document.errors;
  if (fault !== undefined) throw invalid(file, lineAt(fault.pos[0]), fault.message);

  const lineOf = (path: ScriptPath, text?: string): number => {
    const [start, end] = rangeOf(document, path);
    const inside = text === undefined ? -1 : source.slice(start, end).indexOf(text);
    return lineAt(start + Math.max(0, inside));
  };
  const parsed = scriptSchema.safeParse(valueOf(document, file));
  if (!parsed.success) throw firstProblem(parsed.error, { file, lineOf });
  const script: Script = { ...parsed.data, file, lineOf };
  checkNames(script);
  return script;
}

/** Throws for an alias without its anchor, and for aliases that would unfold without bound. */
function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (thrown) {
    throw invalid(file, 1, messageOf(thrown));
  }
}

/** Where the value at a path stands in the source; the nearest value around it where it is absent. */
function rangeOf(document: Document, path: ScriptPath): readonly [start: number, end: number] {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return [node.range[0], node.range[1]];
  }
  return [0, 0];
}

function firstProblem(error: z.ZodError, { file, lineOf }: Pick<Script, 'file' | 'lineOf'>): AgentdError {
  const [issue] = error.issues;
  if (issue === undefined) return invalid(file, 1, error.message);
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const line = unknown === undefined ? lineOf(path) : lineOf([...path, unknown]);
  return invalid(file, line, `${placeOf(path)}${issue.message}`);
}

/** A name that two calls of one list share would mean either. */
function checkNames({ agents, file, lineOf }: Script): void {
  for (const [agent, turns] of Object.entries(agents)) {
    const seen = new Set<string>();
    const named = turns.flatMap(({ calls = [] }, turn) => calls.map(({ as }, call) => ({ as, turn, call })));
    for (const { as, turn, call } of named) {
      if (as === undefined) continue;
      const path = ['agents', agent, turn, 'calls', call, 'as'];
      if (seen.has(as)) throw invalid(file, lineOf(path), `${placeOf(path)}the name ${as} is given twice`);
      seen.add(as);
    }
  }
}

function placeOf(path: ScriptPath): string {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return place === '' ? '' : `${place.replace(/^\./, '')}: `;
}

function invalid(file: string, line: number, problem: string): AgentdError<GatewayErrorCode> {
  return gatewayError('GATEWAY_SCRIPT_INVALID', `${file}:${line}: ${problem}`);
}
