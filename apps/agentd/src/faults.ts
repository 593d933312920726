import { AgentdError, codeOf, messageOf, type AgentdErrorInit } from '@agentd/contract';
import { oneLine } from './cli/one-line.ts';
import { EXIT } from './exit-codes.ts';

export type AppErrorCode =
  /** The command line is wrong: exit 2. */
  | 'AGENTD_USAGE'
  /** Something that the command needs is missing, broken or not allowed: exit 5. */
  | 'AGENTD_SET_UP'
  /** What the command should show does not exist: exit 1. */
  | 'AGENTD_NOT_FOUND';

export function usageError(message: string, init?: AgentdErrorInit): AgentdError<AppErrorCode> {
  return new AgentdError('AGENTD_USAGE', message, init);
}

export function setUpError(message: string, init?: AgentdErrorInit): AgentdError<AppErrorCode> {
  return new AgentdError('AGENTD_SET_UP', message, init);
}

export function notFoundError(message: string, init?: AgentdErrorInit): AgentdError<AppErrorCode> {
  return new AgentdError('AGENTD_NOT_FOUND', message, init);
}

/** Faults of other packages that mean: nothing ran, mend the set-up first. */
const SET_UP_CODES: ReadonlySet<string> = new Set([
  'AGENTD_SET_UP',
  'ENGINE_SESSION_NOT_FOUND',
  'ENGINE_SESSION_LOCKED',
  'ENGINE_SESSION_DAMAGED',
  'ENGINE_STORE_FAILED',
  'ENGINE_AGENT_UNKNOWN',
  'ENGINE_MODEL_UNKNOWN',
]);

/** What is said of something that a command threw, on one line, and the exit code for it (CLI-1, CLI-3). */
export function describeFault(thrown: unknown): { readonly message: string; readonly exitCode: number } {
  return { message: oneLine(messageOf(thrown)), exitCode: exitCodeOf(thrown) };
}

function exitCodeOf(thrown: unknown): number {
  const code = codeOf(thrown) ?? '';
  if (code === 'AGENTD_USAGE') return EXIT.usage;
  return SET_UP_CODES.has(code) || code.startsWith('GATEWAY_') ? EXIT.setUp : EXIT.failed;
}

/** Marks whatever a run's set-up throws as that: nothing has run yet (CLI-3). */
export async function asSetUp<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw exitCodeOf(error) === EXIT.failed ? setUpError(messageOf(error), { cause: error }) : error;
  }
}
