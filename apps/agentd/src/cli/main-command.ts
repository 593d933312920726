import type { CommanderError } from 'commander';
import { EXIT } from '../exit-codes.ts';
import { createProgram } from './program.ts';
import { processScreen } from './screen.ts';

/** Runs one command line. Contract: resolves with the exit code; every failure is one line on stderr (CLI-1). */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const screen = processScreen({ plain: args.includes('--no-color') });
  let exitCode: number = EXIT.completed;
  const program = createProgram(screen, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    const { describeFault } = await import('../faults.ts');
    const { message, exitCode: faultCode } = describeFault(error);
    screen.tell(`agentd: ${message}`);
    return faultCode;
  }
}

function isCommanderError(error: unknown): error is CommanderError {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'CommanderError';
}
