import { AgentdError, codeOf, type AgentdErrorInit } from '@agentd/contract';

export type AppErrorCode =
  /** The command line is wrong: exit 2. */
  | 'AGENTD_USAGE'
  /** Something that the command needs is missing, broken or not allowed: exit 5. */
  | 'AGENTD_SET_UP'
  /** What the command should show does not exist: exit 1. */
  | 'AGENTD_NOT_FOUND';

/** Exit codes of every command (CLI-3). */
export const EXIT = { completed: 0, failed: 1, usage: 2, denied: 3, cancelled: 4, setUp: 5 } as const;

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
  'ENGINE_AGENT_UNKNOWN',
  'ENGINE_MODEL_UNKNOWN',
]);

/** The exit code for something that a command threw (CLI-1, CLI-3). */
export function exitCodeOf(thrown: unknown): number {
  const code = codeOf(thrown) ?? '';
  if (code === 'AGENTD_USAGE') return EXIT.usage;
  return SET_UP_CODES.has(code) || code.startsWith('GATEWAY_') ? EXIT.setUp : EXIT.failed;
}
