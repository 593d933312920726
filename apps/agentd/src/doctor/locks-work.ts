import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, randomIds as ids, type FileLocks } from '@agentd/contract';

/** Why locks do not work where the home is; null when they do. */
export async function locksWork(home: string, locks: FileLocks): Promise<string | null> {
  for (const folder of [home, tmpdir()]) {
    const path = join(folder, `.doctor-${ids.hex(8)}.lock`);
    try {
      const first = await locks.tryExclusive(path);
      const second = await locks.tryExclusive(path);
      await Promise.all([first?.release(), second?.release()]);
      await rm(path, { force: true });
      return first !== null && second === null
        ? null
        : `${folder} keeps no locks; put the home on a local disk`;
    } catch (error) {
      if (folder !== home) return messageOf(error);
    }
  }
  return null;
}
