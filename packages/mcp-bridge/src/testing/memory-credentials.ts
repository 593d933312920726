import type { CredentialStore, StoredCredentials } from '../oauth/credentials.ts';

/** A credential store without a disk. */
export function memoryCredentials(
  kept: Map<string, StoredCredentials> = new Map(),
): CredentialStore & { readonly kept: ReadonlyMap<string, StoredCredentials> } {
  let last: Promise<unknown> = Promise.resolve();
  return {
    kept,
    read: async (key) => kept.get(key) ?? {},
    update: async (key, change) => {
      const turn = last.then(async () => {
        const after = await change(kept.get(key) ?? {});
        kept.set(key, after);
        return after;
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
