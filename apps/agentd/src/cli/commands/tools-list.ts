import { offeredTools } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { situate } from '../../situation.ts';
import { overlayOf } from '../../session/overlay.ts';
import type { ActingOptions, DataOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

/** `tools list`: what a root run of the agent would publish. Opens no session and no model. */
export async function listTools(options: ActingOptions & DataOptions, screen: Screen): Promise<number> {
  const overlay = overlayOf(options);
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const agent = situation.agents.choose(options.agent);
  const tools = await offeredTools(situation, agent, overlay);
  if (options.json === true) {
    screen.print(`${JSON.stringify(tools, null, 2)}\n`);
    return EXIT.completed;
  }
  for (const { name, description, parameters } of tools) {
    screen.print(`${screen.style('bold', name)}\n${indented(description)}\n`);
    screen.print(`${indented(JSON.stringify(parameters))}\n\n`);
  }
  return EXIT.completed;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
