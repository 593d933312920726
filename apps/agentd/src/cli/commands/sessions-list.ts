import { join } from 'node:path';
import { SessionState, type SessionListing } from '@agentd/engine';
import { openSessions } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { homeFolder, realWorkspace } from '../../home/home.ts';
import { projectOf, projectsOf, type Project } from '../../home/project.ts';
import { statusNow } from '../../session/owner.ts';
import type { DataOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { Screen } from '../screen.ts';

export interface ListOptions extends DataOptions {
  readonly home?: string;
  readonly cwd?: string;
}

interface SessionRow {
  readonly session_id: string;
  readonly updated_at: string;
  readonly status: string;
  readonly agent: string | null;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly project: string;
  /** Why it cannot be opened; null for a sound one. */
  readonly damaged: string | null;
}

/** `sessions list`: every session of the home, or of one working directory; a damaged one is a row like others. */
export async function listSessions(options: ListOptions, screen: Screen): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const projects =
    options.cwd === undefined ? await projectsOf(home) : [projectOf(home, await realWorkspace(options.cwd))];
  const rows = (await Promise.all(projects.map(rowsOf))).flat();
  const newestFirst = rows.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  if (options.json === true) screen.print(`${JSON.stringify(newestFirst, null, 2)}\n`);
  else if (newestFirst.length === 0) screen.tell('no sessions yet');
  else printRows(screen, newestFirst.map(columnsOf));
  return EXIT.completed;
}

async function rowsOf(project: Project): Promise<readonly SessionRow[]> {
  const sessions = openSessions(project);
  const rows: SessionRow[] = [];
  for (const listing of await sessions.list()) {
    rows.push({ ...unknownRow(listing, project), ...(await knownPart(listing, project, sessions)) });
  }
  return rows;
}

function unknownRow({ sessionId, updatedAt, damaged }: SessionListing, { key }: Project): SessionRow {
  return {
    session_id: sessionId,
    updated_at: new Date(updatedAt).toISOString(),
    status: damaged === null ? 'idle' : 'damaged',
    agent: null,
    cwd: null,
    title: null,
    project: key,
    damaged,
  };
}

async function knownPart(
  { sessionId, damaged }: SessionListing,
  project: Project,
  sessions: ReturnType<typeof openSessions>,
): Promise<Partial<SessionRow>> {
  if (damaged !== null) return {};
  const { events } = await sessions.read(sessionId);
  const state = SessionState.of(events);
  const { agent, cwd } = state.header;
  const log = join(project.sessions, sessionId, 'events.jsonl');
  return { agent, cwd, title: state.title, status: await statusNow(state.lastRun?.status ?? 'idle', log) };
}

function columnsOf(row: SessionRow): readonly string[] {
  const { session_id: id, updated_at: updatedAt, status, cwd, title, damaged } = row;
  return [id, updatedAt.slice(0, 19).replace('T', ' '), status, cwd ?? row.project, damaged ?? title ?? ''];
}
