import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@agentd/contract';

/** What the user trusts: by the real path of a workspace, the digest of what it brought then (PERM-11). */
export interface TrustStore {
  /** Null for a workspace that was never trusted. A damaged file trusts nothing. */
  readonly digestOf: (workspace: string) => Promise<string | null>;
  readonly trust: (workspace: string, digest: string) => Promise<void>;
  /** False where there was nothing to take back. */
  readonly revoke: (workspace: string) => Promise<boolean>;
}

/** `trust.json` in the home (0600). The home must exist before anything is trusted. */
export function trustStore(home: string): TrustStore {
  const path = join(home, 'trust.json');
  return {
    digestOf: async (workspace) => {
      const entries = await readEntries(path);
      const digest = Object.hasOwn(entries, workspace) ? entries[workspace] : undefined;
      return typeof digest === 'string' ? digest : null;
    },
    trust: async (workspace, digest) =>
      writeEntries(path, { ...(await readEntries(path)), [workspace]: digest }),
    revoke: async (workspace) => {
      const { [workspace]: known, ...others } = await readEntries(path);
      if (known !== undefined) await writeEntries(path, others);
      return known !== undefined;
    },
  };
}

async function readEntries(path: string): Promise<JsonObject> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

async function writeEntries(path: string, entries: JsonObject): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
