import type { ChildStatus } from './child-status.ts';
import type { DelegationEnd, DelegationRecord } from './delegation-record.ts';
import type { Preview } from './preview.ts';

/** What a background call answers (DLG-5). */
export function startNotice(handle: string): string {
  return `Subagent started. [subagent session ${handle}]`;
}

/** The preview, then what it is of (DLG-5). */
export function endNotice(handle: string, end: Preview & { readonly status: ChildStatus }): string {
  const { status, preview, lines, truncated } = end;
  const count = `${lines} ${lines === 1 ? 'line' : 'lines'}`;
  const rest = truncated
    ? `use get_subagent_result with session_id "${handle}" for the full output`
    : 'full output shown';
  const gap = preview === '' || preview.endsWith('\n') ? '' : '\n';
  return `${preview}${gap}[subagent session ${handle}; ${status}; ${count}; ${rest}]`;
}

/** A result that travels through the inbox; a call would carry the error beside its text. */
export function inboxNotice({ handle }: DelegationRecord, end: DelegationEnd): string {
  const notice = endNotice(handle, end);
  return end.error === null ? notice : `${notice}\n${end.error.code}: ${end.error.message}`;
}
