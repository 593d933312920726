import type { AgentdError, AgentdErrorInit } from '@agentd/contract';
import { setUpError, type AppErrorCode } from '../faults.ts';

/** A place in a file: one-based line and column. */
export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something wrong in a file that a person wrote: `FILE:LINE:COLUMN: what, and what would be right` (CFG-2). */
export function fileProblem(
  { file, line, column }: FilePosition,
  problem: string,
  init?: AgentdErrorInit,
): AgentdError<AppErrorCode> {
  return setUpError(`${file}:${line}:${column}: ${problem}`, init);
}
