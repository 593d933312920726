import { AgentdError } from '@agentd/contract';

export type FormatFaultCode =
  /** Cut off, damaged, or not built as its format says. */
  | 'MEDIA_MALFORMED'
  /** Well built as far as looked at, and larger than anyone would take. */
  | 'MEDIA_OVERSIZED';

/** Ends a walk. Say what is wrong and where, without the name of the file. */
export function malformed(problem: string): never {
  throw new AgentdError('MEDIA_MALFORMED', problem);
}

/** Ends a walk over something too large, whatever the rest of it may be. */
export function oversized(problem: string): never {
  throw new AgentdError('MEDIA_OVERSIZED', problem);
}
