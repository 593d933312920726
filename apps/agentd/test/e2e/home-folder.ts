import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface StoredEvent {
  readonly seq: number;
  readonly run_id: string | null;
  readonly payload: { readonly type: string; readonly [field: string]: unknown };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

async function sessionFolders(home: string): Promise<readonly string[]> {
  const projects = await namesIn(join(home, 'projects'));
  const nested = await Promise.all(
    projects.map(async (project) => {
      const sessions = join(home, 'projects', project, 'sessions');
      return (await namesIn(sessions)).map((id) => join(sessions, id));
    }),
  );
  return nested.flat();
}

/** Ids of the sessions in a home that have a log; folders that are only being made do not count. */
export async function sessionIds(home: string): Promise<readonly string[]> {
  const folders = await sessionFolders(home);
  return folders
    .map((folder) => folder.slice(folder.lastIndexOf('/') + 1))
    .filter((id) => /^[0-9a-f-]{36}$/.test(id));
}

/** The events of a session as the file has them; a torn last line is left out. */
export async function eventsOnDisk(home: string, id: string): Promise<readonly StoredEvent[]> {
  const folder = (await sessionFolders(home)).find((path) => path.endsWith(`/${id}`));
  const text = await readFile(join(folder ?? '', 'events.jsonl'), 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredEvent);
}
