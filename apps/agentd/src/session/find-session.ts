import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '@agentd/contract';
import { setUpError } from '../faults.ts';
import { projectsOf, type Project } from '../home/project.ts';

/** A session's place in the home. */
export interface SessionPlace {
  readonly sessionId: string;
  readonly project: Project;
  /** Its `events.jsonl`. */
  readonly log: string;
}

/** So much of an id may stand for it: fewer digits would be a guess. */
const BEGINNING = /^[0-9a-f][0-9a-f-]{3,35}$/;

/**
 * Finds a session in any project of the home by its id, or by a beginning of at least four characters that no other has.
 * Contract: throws one clear line when there is none, or several.
 */
export async function findSession(home: string, asked: string): Promise<SessionPlace> {
  if (!BEGINNING.test(asked)) {
    throw setUpError(`${JSON.stringify(asked)} is not a session id; "agentd sessions list" shows them`);
  }
  const places = await Promise.all((await projectsOf(home)).map(placesIn));
  const [found, ...others] = places.flat().filter(({ sessionId }) => sessionId.startsWith(asked));
  if (found === undefined) throw setUpError(`there is no session ${asked} in ${home}`);
  if (others.length > 0) {
    const ids = [found, ...others].map(({ sessionId }) => sessionId).toSorted();
    throw setUpError(`several sessions begin with ${asked}: ${ids.join(', ')}`);
  }
  return found;
}

async function placesIn(project: Project): Promise<readonly SessionPlace[]> {
  const roots = await sessionFolders(project.sessions);
  const nested = await Promise.all(roots.map(({ folder }) => sessionFolders(join(folder, 'subagents'))));
  return [...roots, ...nested.flat()].map(({ sessionId, folder }) => ({
    sessionId,
    project,
    log: join(folder, 'events.jsonl'),
  }));
}

async function sessionFolders(parent: string) {
  const names = await readdir(parent).catch(() => []);
  return names.filter(isUuid).map((name) => ({ sessionId: name, folder: join(parent, name) }));
}
