import type { ProcessGuard } from '@agentd/contract';
import { commandGuard } from './command-guard.ts';
import { findBash } from './shell-lookup.ts';

/** The guard of bash commands, for other children: SIGTERM, and SIGKILL after 2 s. On Linux, where there is a bash. */
export const guardProcess: ProcessGuard = async (pid) => {
  // First of all, while the number is certainly still its own.
  const unguard = commandGuard.watch(pid);
  const shell = await findBash(process.env).catch(() => null);
  if (shell !== null) commandGuard.start(shell);
  return unguard;
};
