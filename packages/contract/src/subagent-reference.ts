import { toolError } from './tool-error.ts';
import type { AgentdError } from './errors.ts';
import type { SessionId } from './ids.ts';
import type { ToolErrorCode } from './tool-error.ts';

/** A session that a reference could have meant (DLG-4). */
export interface SubagentCandidate {
  readonly sessionId: SessionId;
  readonly handle: string;
  /** What it was asked to do, in one line: its title. */
  readonly description: string;
  readonly status: string;
}

/** A reference is one word of some 25 characters; longer ones are shown cut. */
const LONGEST_SHOWN_REFERENCE = 100;

/** The error for a reference that names no candidate. It lists them all, so that the next call can be right (DLG-4). */
export function unknownSubagent(
  reference: string,
  candidates: readonly SubagentCandidate[],
): AgentdError<ToolErrorCode> {
  const lines = candidates.map(
    ({ handle, description, status, sessionId }) =>
      `${handle} — ${oneLine(description)} — ${status} (session_id ${sessionId})`,
  );
  const list = lines.length === 0 ? '(none)' : lines.toSorted().join('\n');
  const shown = JSON.stringify(reference.slice(0, LONGEST_SHOWN_REFERENCE));
  return toolError(
    'unknown_subagent',
    `unknown subagent reference ${shown}; live subagents in your tree:\n${list}`,
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}
