import type { ToolError, ToolResultRecord } from '@agentd/contract';

export interface ModelTextSource {
  readonly result: Pick<ToolResultRecord, 'text' | 'metadata'> | null;
  /** Null for a completed call. */
  readonly error: Pick<ToolError, 'code' | 'message'> | null;
}

/**
 * What a model reads of a call: the output, then on any outcome but completed a line with the error, then where to go
 * on (`[next_offset: N]`) where the metadata names it; nothing else (ERR-2).
 */
export function modelTextOf({ result, error }: ModelTextSource): string {
  const parts = [
    result?.text ?? '',
    error === null ? '' : `error: ${error.code}: ${error.message}`,
    nextOffset(result?.metadata['next_offset']),
  ];
  return parts.reduce((text, part) =>
    text === '' || part === '' ? text + part : `${withoutEnd(text)}\n${part}`,
  );
}

function nextOffset(offset: unknown): string {
  return typeof offset === 'number' ? `[next_offset: ${offset}]` : '';
}

/** One line end is enough between the output and what follows it. */
function withoutEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
