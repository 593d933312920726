import { setImmediate as nextRound } from 'node:timers/promises';
import type { CommanderError } from 'commander';
import { EXIT } from '../exit-codes.ts';
import { createProgram } from './program.ts';
import { outputFault, processScreen, type Screen } from './screen.ts';

/** Runs one command line. Contract: resolves with the exit code; every failure is one line on stderr (CLI-1). */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const screen = processScreen({ plain: args.includes('--no-color') });
  let exitCode: number = EXIT.completed;
  const program = createProgram(screen, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return await writtenCode(screen, exitCode);
  } catch (error) {
    if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    const { describeFault } = await import('../faults.ts');
    const { message, exitCode: faultCode } = describeFault(error);
    screen.tell(`agentd: ${message}`);
    return faultCode;
  }
}

/** A result that could not be written was no success. */
async function writtenCode(screen: Screen, exitCode: number): Promise<number> {
  // The stream tells of a failed write one round later.
  await nextRound();
  const fault = outputFault(screen);
  if (fault === null) return exitCode;
  screen.tell(`agentd: ${fault}`);
  return exitCode === EXIT.completed ? EXIT.failed : exitCode;
}

function isCommanderError(error: unknown): error is CommanderError {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'CommanderError';
}
