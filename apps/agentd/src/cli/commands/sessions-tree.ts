import { dirname, join } from 'node:path';
import { openSessions } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { homeFolder } from '../../home/home.ts';
import { findSession } from '../../session/find-session.ts';
import { treeRows, type TreeRow } from '../../session/tree-rows.ts';
import type { DataOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { Screen } from '../screen.ts';

export interface TreeOptions extends DataOptions {
  readonly home?: string;
}

/** `sessions tree ID`: the sessions of a tree and how they stand, whichever of them is named. Needs no lock (SES-4). */
export async function showTree(asked: string, options: TreeOptions, screen: Screen): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const { project, sessionId } = await findSession(home, asked);
  const sessions = openSessions(project);
  const rootId = await sessions.rootOf(sessionId);
  const root = join(project.sessions, rootId, 'events.jsonl');
  const logOf = (id: string): string =>
    id === rootId ? root : join(dirname(root), 'subagents', id, 'events.jsonl');
  const rows = await treeRows({ sessions, rootId, logOf });
  if (options.json === true) screen.print(`${JSON.stringify(rows, null, 2)}\n`);
  else printRows(screen, rows.map(columnsOf));
  return EXIT.completed;
}

function columnsOf({ depth, handle, session_id: id, status, title, damaged }: TreeRow): readonly string[] {
  return [`${'  '.repeat(depth)}${handle ?? id}`, status, id, damaged ?? title ?? ''];
}
