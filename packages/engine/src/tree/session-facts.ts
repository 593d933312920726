import type { SessionFacts, SessionId, SessionRun } from '@agentd/contract';
import type { RunEnd } from '../run-end.ts';
import type { RunRecord } from '../run-ledger.ts';
import type { SessionState } from '../session-state.ts';
import { textOf } from '../run-ledger.ts';

/** What is stored of a session, and where its newest run stands. */
export function factsOf(sessionId: SessionId, state: SessionState): SessionFacts {
  const { handle, agent, cwd, origin } = state.header;
  return {
    sessionId,
    handle,
    description: state.title,
    status: state.lastRun?.status ?? 'idle',
    rootId: origin?.root_id ?? sessionId,
    parentId: origin?.parent_id ?? null,
    agent,
    cwd,
    depth: origin?.depth ?? 0,
  };
}

/** The run with this `clientRunId`, or the newest one. */
export function runOf(state: SessionState, clientRunId?: string): SessionRun | null {
  const record = clientRunId === undefined ? state.lastRun : state.runByClientId(clientRunId);
  return record === null || record === undefined ? null : sessionRun(record);
}

/** As `runOf`, for a run whose end the log may not have taken. */
export function endedRun(record: RunRecord, end: RunEnd): SessionRun {
  const run = sessionRun(record);
  return run.status === 'running' ? { ...run, status: 'failed', error: end.error } : run;
}

function sessionRun({ runId, status, finalText, error }: RunRecord): SessionRun {
  return { runId, status, text: finalText, error };
}

/** User and assistant text, the newest `maxBytes` of it, oldest first (DLG-12). */
export function conversationOf(state: SessionState, maxBytes: number): string {
  const said = state.steps.flatMap(({ inputs, content }) => [
    ...inputs.map((text) => spoken('user', text)),
    ...spokenBy(textOf(content)),
  ]);
  const whole = [...said, ...state.pendingTexts.map((text) => spoken('user', text))].join('\n\n');
  return newestBytes(whole, maxBytes);
}

function spokenBy(text: string): readonly string[] {
  return text.trim() === '' ? [] : [spoken('assistant', text)];
}

function spoken(who: 'user' | 'assistant', text: string): string {
  return `${who}: ${text}`;
}

/** Cuts at the front, between two characters. */
function newestBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start).toString('utf8');
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
