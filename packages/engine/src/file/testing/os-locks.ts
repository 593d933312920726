import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import native from 'fs-native-extensions';
import type { FileLocks } from '@agentd/contract';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/** Real locks of the operating system, so that tests meet what a crash does to them. */
export const osLocks: FileLocks = {
  tryExclusive: async (path, note) => {
    const handle = await open(path, FLAGS, 0o600);
    if (!native.tryLock(handle.fd)) {
      await handle.close();
      return null;
    }
    if (note !== undefined) {
      await handle.truncate(0);
      await handle.write(note, 0);
    }
    let released: Promise<void> | undefined;
    return { path, release: () => (released ??= handle.close()) };
  },
};
