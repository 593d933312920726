import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import native from 'fs-native-extensions';
import type { FileLocks } from '@agentd/contract';

/** Locks of the operating system that die with their process; for tests that kill one. */
export const nativeFileLocks: FileLocks = {
  tryExclusive: async (path, note) => {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    if (!native.tryLock(handle.fd)) {
      await handle.close();
      return null;
    }
    if (note !== undefined) {
      await handle.truncate(0);
      await handle.writeFile(note);
    }
    let released: Promise<void> | undefined;
    return { path, release: () => (released ??= handle.close()) };
  },
};
