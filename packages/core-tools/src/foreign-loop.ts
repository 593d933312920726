import { isAbsolute } from 'node:path';
import { AgentdError, type Tool } from '@agentd/contract';

/** Characters of a stream that the model of another loop sees unless it is told otherwise. */
export const DEFAULT_STREAM_LENGTH = 50_000;

/**
 * What another loop must be given. `whom` is who would have to promise that a tool runs alone.
 * Throws `CORE_TOOLS_CWD` for a relative directory and `CORE_TOOLS_EXCLUSIVE` for a tool that must run alone.
 */
export function assertUsableBy(whom: string, tools: readonly Tool[], cwd: string): void {
  if (!isAbsolute(cwd)) {
    throw new AgentdError('CORE_TOOLS_CWD', `cwd must be absolute, not ${JSON.stringify(cwd)}`);
  }
  const alone = tools.find(({ spec }) => spec.concurrency === 'exclusive');
  if (alone !== undefined) {
    throw new AgentdError(
      'CORE_TOOLS_EXCLUSIVE',
      `tool ${alone.spec.name} must run alone, which no ${whom} promises`,
    );
  }
}
