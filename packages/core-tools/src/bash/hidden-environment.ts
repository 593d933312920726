import { systemLibrary } from '../system-library.ts';

const PR_SET_DUMPABLE = 4;

let hiding: Promise<void> | undefined;

/**
 * Closes this process to others of the same user, once and for as long as it lives: they cannot read its environment in
 * /proc or its memory any more (BASH-2). Debuggers cannot attach, and a crash leaves no core file. Does nothing on other
 * systems than Linux or without `koffi`; root reads all the same. Programs that are started are open again.
 */
export function hideOwnEnvironment(): Promise<void> {
  return (hiding ??= hide());
}

async function hide(): Promise<void> {
  const library = await systemLibrary();
  library?.func('int prctl(int, ulong, ulong, ulong, ulong)')(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
