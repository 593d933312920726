import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pause, type Clock, type FileLock, type FileLocks } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import type { CredentialStore, StoredCredentials } from '../oauth/credentials.ts';
import { readPrivateJson, writePrivateJson } from './private-json.ts';

export interface FileCredentialsOptions {
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
}

/** How often we look whether another process has done with a server's credentials. */
const LOOK_MS = 50;
/** Who holds the lock refreshes a token; that takes a request, and no longer than this. */
const PATIENCE_MS = 60_000;

/** Keeps credentials as files of a folder (0600), one a server, each under a lock of the operating system (MCP-6). */
export function fileCredentials({ folder, locks, clock }: FileCredentialsOptions): CredentialStore {
  const pathOf = (key: string): string => join(folder, `${key}.json`);
  const read = async (key: string): Promise<StoredCredentials> => (await readPrivateJson(pathOf(key))) ?? {};
  return {
    read,
    update: async (key, change) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const lock = await held({ path: join(folder, `${key}.lock`), locks, clock });
      try {
        const before = await read(key);
        const after = await change(before);
        if (after !== before) await writePrivateJson(pathOf(key), { ...after });
        return after;
      } finally {
        await lock.release();
      }
    },
  };
}

async function held({
  path,
  locks,
  clock,
}: Pick<FileCredentialsOptions, 'locks' | 'clock'> & { readonly path: string }): Promise<FileLock> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    const lock = await locks.tryExclusive(path);
    if (lock !== null) return lock;
    await pause(LOOK_MS, clock, new AbortController().signal);
  }
  throw mcpError('MCP_USAGE', `another process keeps ${path}; end it and try again`);
}
