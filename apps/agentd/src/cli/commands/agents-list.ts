import { situate } from '../../situation.ts';
import { EXIT } from '../../exit-codes.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { Screen } from '../screen.ts';

/** `agents list`: the agents in force here. */
export async function listAgents(options: PlaceOptions & DataOptions, screen: Screen): Promise<number> {
  const { agents, skipped } = await situate(options);
  if (skipped !== null) screen.tell(skipped);
  const rows = agents.all.map(({ document: { id, description, mode, models }, file }) => ({
    id,
    mode,
    description,
    models,
    file,
  }));
  if (options.json === true) {
    screen.print(`${JSON.stringify(rows, null, 2)}\n`);
  } else {
    printRows(
      screen,
      rows.map(({ id, mode, description, file }) => [id, mode, file ?? 'built in', description]),
    );
  }
  return EXIT.completed;
}
