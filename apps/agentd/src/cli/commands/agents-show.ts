import { builtInAgent, DEFAULT_AGENT_ID, type LoadedAgent } from '../../agents/load-agents.ts';
import { EXIT } from '../../exit-codes.ts';
import { situate, type Situation } from '../../situation.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

/** `agents show ID`: the document as it was written; the built-in one can be copied from here (PERM-5). */
export async function showAgent(
  id: string,
  options: PlaceOptions & DataOptions,
  screen: Screen,
): Promise<number> {
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const { document, text, file } = find(id, situation);
  screen.show(options.json === true ? `${JSON.stringify({ ...document, file }, null, 2)}\n` : text);
  return EXIT.completed;
}

function find(id: string, { agents }: Situation): LoadedAgent {
  const shadowed = id === DEFAULT_AGENT_ID && agents.find(id) === undefined;
  return shadowed ? builtInAgent() : agents.require(id);
}
