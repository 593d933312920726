import {
  isJsonObject,
  toolError,
  type ExecuteContext,
  type JsonObject,
  type JsonValue,
  type MediaGate,
  type PreparedCall,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import type { ServerProgress } from '../ports.ts';
import { mappedResult } from '../result/map-result.ts';
import { argumentProblems } from '../schema/argument-check.ts';
import { asToolError } from './call-failure.ts';
import type { KnownTool } from './known-tool.ts';

/** A server's tool under its published name. Its calls overlap with everything but each other (SCH-6, MCP-2). */
export function bridgeTool(name: string, tool: KnownTool, media: MediaGate | null): Tool {
  const { description, parameters } = tool;
  return {
    spec: {
      name,
      description,
      parameters,
      action: 'mcp',
      concurrency: 'parallel',
      output: { kind: 'single' },
      truncation: 'bounded',
      origin: 'mcp',
    },
    prepare: async (args, context) => {
      const checked = checkedArguments(name, tool, args);
      return preparedCall({ name, tool, args: checked }, (execution, signal) =>
        call({ tool, args: checked, media, model: context.model }, execution, signal),
      );
    },
  };
}

/** Models leave arguments out, or say null, where there are none (field H10). */
function checkedArguments(name: string, { shape }: KnownTool, args: unknown): JsonObject {
  const given = args ?? {};
  if (!isJsonObject(given)) {
    throw toolError('invalid_arguments', `invalid arguments for ${name}: expected an object`);
  }
  const problems = argumentProblems(shape, given);
  if (problems.length === 0) return given;
  throw toolError(
    'invalid_arguments',
    `invalid arguments for ${name}: ${problems.join('; ')}. Call it again with arguments that fit its schema.`,
  );
}

interface NamedCall {
  readonly name: string;
  readonly tool: KnownTool;
  readonly args: JsonObject;
}

function preparedCall({ name, tool, args }: NamedCall, execute: PreparedCall['execute']): PreparedCall {
  return {
    permission: { action: 'mcp', label: name },
    operation: { server: tool.server.name, tool: tool.raw, arguments: args as JsonValue },
    execute,
  };
}

interface ServerCallParts {
  readonly tool: KnownTool;
  readonly args: JsonObject;
  readonly media: MediaGate | null;
  readonly model: Parameters<Tool['prepare']>[1]['model'];
}

async function call(
  { tool, args, media, model }: ServerCallParts,
  context: ExecuteContext,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  const { server, raw } = tool;
  const origin = { server: server.name, tool: raw };
  try {
    const progress = teller(context);
    const result = await server.call({ tool: raw, args }, { progress }, signal);
    return await mappedResult(result, { origin, gate: media, model }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw asToolError(error, { server, what: raw });
  }
}

const LONGEST_MESSAGE = 900;

/** Tells progress as it comes; what comes while the last word is still being taken is skipped. */
function teller({ report }: ExecuteContext): (progress: ServerProgress) => void {
  let isBusy = false;
  return ({ progress, total, message }) => {
    if (isBusy) return;
    isBusy = true;
    const count = total === undefined ? `${progress}` : `${progress}/${total}`;
    const text = message === undefined || message === '' ? count : `${message} (${count})`;
    // Bytes count, and a character has up to three for each of its units.
    const cut = text
      .toWellFormed()
      .slice(0, LONGEST_MESSAGE / 3)
      .toWellFormed();
    report({ message: cut }).then(
      () => {
        isBusy = false;
      },
      () => undefined, // The bounds of a call's progress are reached: the rest is not told.
    );
  };
}
