import type { z } from 'zod';
import type { JsonObject } from './json.ts';
import type { PreparedCall, PrepareContext, Tool, ToolSpec } from './tool.ts';
import { AgentdError } from './errors.ts';
import { argumentProblems } from './argument-problems.ts';
import { declarationProblem } from './output.ts';
import { toolError } from './tool-error.ts';
import { toolParameters } from './tool-parameters.ts';

/** A tool as its author writes it; the defaults are those of SCH-1, OUT-4 and OUT-18. */
export interface ToolInit<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly description: string;
  /** Must be strict: `z.strictObject({…})` (ARG-2). Describe each field for the model. */
  readonly schema: z.ZodObject<Shape, z.core.$strict>;
  readonly action: ToolSpec['action'];
  readonly concurrency?: ToolSpec['concurrency'];
  readonly output?: ToolSpec['output'];
  readonly truncation?: ToolSpec['truncation'];
  readonly origin?: ToolSpec['origin'];
  readonly prepare: (
    args: z.infer<z.ZodObject<Shape, z.core.$strict>>,
    context: PrepareContext,
    signal: AbortSignal,
  ) => Promise<PreparedCall>;
}

/**
 * Makes a tool of a zod schema and a function. The one schema both validates and becomes the JSON Schema that the
 * model sees (ARG-4). Throws `CONTRACT_TOOL_INVALID` where the definition itself is wrong.
 */
export function defineTool<Shape extends z.ZodRawShape>(init: ToolInit<Shape>): Tool {
  const { schema, prepare } = init;
  const spec = toolSpec(init, toolParameters(schema));
  return {
    spec,
    prepare: async (args, context, signal) => {
      const parsed = schema.safeParse(args);
      if (!parsed.success) throw toolError('invalid_arguments', argumentProblems(spec, parsed.error, args));
      return prepare(parsed.data, context, signal);
    },
  };
}

function toolSpec(
  {
    name,
    description,
    action,
    concurrency,
    output,
    truncation,
    origin,
  }: Omit<ToolInit<never>, 'schema' | 'prepare'>,
  parameters: JsonObject,
): ToolSpec {
  const declaration = output ?? { kind: 'single' };
  const problem = declarationProblem(declaration);
  if (problem !== undefined) throw new AgentdError('CONTRACT_TOOL_INVALID', `tool ${name}: ${problem}`);
  return {
    name,
    description,
    parameters,
    action,
    concurrency: concurrency ?? 'exclusive',
    output: declaration,
    truncation: truncation ?? 'bounded',
    origin: origin ?? 'builtin',
  };
}
