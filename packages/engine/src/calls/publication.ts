import type { ModelInfo, Tool, ToolDefinition, ToolSpec } from '@agentd/contract';
import { engineError } from '../errors.ts';
import { mayPublish, type RuleLayers } from '../permissions/decide.ts';

export interface PublicationPolicy {
  readonly rules: RuleLayers;
  /** Null for a call by hand: no model's capabilities stand in the way. */
  readonly model: ModelInfo | null;
}

/**
 * The tools that a run sees, by name: those whose action some rule allows or asks for (PERM-3), none for a model without
 * tool calling (ARG-1). Their specs are what the engine grants, not what they claim (OUT-18, SCH-2).
 * Throws `ENGINE_TOOL_NAME_TAKEN` where two tools share a name, published or not.
 */
export function publishedTools(
  tools: readonly Tool[],
  { rules, model }: PublicationPolicy,
): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.spec;
    if (byName.has(name))
      throw engineError('ENGINE_TOOL_NAME_TAKEN', `two tools are named ${JSON.stringify(name)}`);
    byName.set(name, granted(tool));
  }
  if (model?.toolCalling === false) return new Map();
  return new Map([...byName].filter(([, { spec }]) => mayPublish(spec.action, rules)));
}

/** Published tools as a model request carries them; descriptions pass unchanged (ARG-6). */
export function toolDefinitions(tools: ReadonlyMap<string, Tool>): readonly ToolDefinition[] {
  return [...tools.values()].map(({ spec: { name, description, parameters } }) => ({
    name,
    description,
    parameters,
  }));
}

function granted(tool: Tool): Tool {
  const spec = grantedSpec(tool.spec);
  return { spec, prepare: (args, context, signal) => tool.prepare(args, context, signal) };
}

function grantedSpec(spec: ToolSpec): ToolSpec {
  const { origin, concurrency, truncation, output } = spec;
  const overlaps = concurrency === 'parallel' && (origin === 'builtin' || origin === 'mcp');
  const pagesItself = truncation === 'opt_out' && origin === 'builtin' && output.kind === 'single';
  return {
    ...spec,
    concurrency: overlaps ? 'parallel' : 'exclusive',
    truncation: pagesItself ? 'opt_out' : 'bounded',
  };
}
