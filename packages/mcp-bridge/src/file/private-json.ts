import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject } from '@agentd/contract';

/** A file that is larger than this was not written by us. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The object that a file holds; null for a missing or a damaged one. */
export async function readPrivateJson(path: string): Promise<JsonObject | null> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > MAX_CHARACTERS) return null;
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Replaces a file as a whole, readable to its user alone; folders are made where they are missing. */
export async function writePrivateJson(path: string, value: JsonObject): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
