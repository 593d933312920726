import { spawnSync } from 'node:child_process';

/** Makes a pipe with a name, which nobody writes to or reads. */
export async function makePipe(path: string): Promise<void> {
  const { status } = spawnSync('mkfifo', [path]);
  if (status !== 0) throw new Error(`mkfifo ended with ${status}`);
}
