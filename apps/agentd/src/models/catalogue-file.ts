import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, isJsonObject, messageOf } from '@agentd/contract';
import type { ModelCatalogue } from '@agentd/model-gateway';
import { setUpError } from '../faults.ts';

/** What `models refresh` keeps. */
export interface StoredCatalogue {
  /** Where it was fetched from. */
  readonly source: string;
  /** RFC 3339. */
  readonly fetchedAt: string;
  readonly models: ModelCatalogue;
}

/** Another shape of this file has another number, and is read as none. */
const VERSION = 1;

export function catalogueFile(home: string): string {
  return join(home, 'models.json');
}

/** What is stored; null for nothing, for a damaged file and for one of another version: it is only a copy. */
export async function readCatalogue(file: string): Promise<StoredCatalogue | null> {
  try {
    const stored: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isJsonObject(stored) || stored['version'] !== VERSION) return null;
    const { source, fetched_at: fetchedAt, models } = stored;
    if (typeof source !== 'string' || typeof fetchedAt !== 'string' || !isTwoLevels(models)) return null;
    return { source, fetchedAt, models: models as unknown as ModelCatalogue };
  } catch {
    return null;
  }
}

/** Replaces the file at once: whoever reads sees the old or the new one, whole. */
export async function writeCatalogue(
  file: string,
  { source, fetchedAt, models }: StoredCatalogue,
): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeSynced(
      draft,
      `${JSON.stringify({ version: VERSION, source, fetched_at: fetchedAt, models })}\n`,
    );
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw setUpError(`${file}: cannot be written: ${codeOf(error) ?? messageOf(error)}`, { cause: error });
  }
}

async function writeSynced(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'wx', 0o600);
  await handle.writeFile(text);
  await handle.sync();
}

function isTwoLevels(value: unknown): boolean {
  return (
    isTable(value) &&
    Object.values(value).every((table) => isTable(table) && Object.values(table).every(isTable))
  );
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
