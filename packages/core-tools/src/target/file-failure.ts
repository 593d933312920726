import { codeOf, isAgentdError, messageOf, toolError, type AgentdError } from '@agentd/contract';

/** A tool error that keeps the cause the system gave: `cannot write PATH: EACCES: permission denied`. */
export function fileFailure(doing: string, path: string, cause: unknown): AgentdError {
  return toolError('execution_failed', `cannot ${doing} ${shownPath(path)}: ${causeText(cause)}`, { cause });
}

/** What a call throws for `error`: the system's errors become tool errors, everything else stays what it is. */
export function expectedFailure(doing: string, path: string, error: unknown): unknown {
  return isAgentdError(error) || codeOf(error) === undefined ? error : fileFailure(doing, path, error);
}

/** Names are bytes of strangers; a line break in one must not look like text of ours. */
export function shownPath(path: string): string {
  return path.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Node's text goes on with the call and the paths, a stage's among them; the model needs neither. */
function causeText(cause: unknown): string {
  const [reason = ''] = messageOf(cause).split(',');
  return codeOf(cause) === undefined ? messageOf(cause) : reason;
}
