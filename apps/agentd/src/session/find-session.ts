import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '@agentd/contract';
import { setUpError } from '../faults.ts';
import { projectsOf, type Project } from '../home/project.ts';

/** A session's place in the home. */
export interface SessionPlace {
  readonly project: Project;
  /** Its `events.jsonl`. */
  readonly log: string;
}

/** Finds a session in any project of the home. Contract: throws one clear line when it is in none. */
export async function findSession(home: string, sessionId: string): Promise<SessionPlace> {
  if (!isUuid(sessionId)) {
    throw setUpError(`${JSON.stringify(sessionId)} is not a session id; "agentd sessions list" shows them`);
  }
  for (const project of await projectsOf(home)) {
    const folder = await folderOf(project, sessionId);
    if (folder !== undefined) return { project, log: join(folder, 'events.jsonl') };
  }
  throw setUpError(`there is no session ${sessionId} in ${home}`);
}

async function folderOf({ sessions }: Project, sessionId: string): Promise<string | undefined> {
  const root = join(sessions, sessionId);
  if (await exists(root)) return root;
  const roots = await readdir(sessions).catch(() => []);
  const nested = roots.map((name) => join(sessions, name, 'subagents', sessionId));
  const found = await Promise.all(nested.map(exists));
  return nested.find((_, index) => found[index]);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
