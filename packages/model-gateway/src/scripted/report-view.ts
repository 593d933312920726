import type { CallReport, JsonObject } from '@agentd/contract';

/** A call's report as templates see it: the object of CLI-6, its `text` as the model saw it (ERR-2, SCR-3). */
export function reportView(report: CallReport): JsonObject {
  return { ...(report as unknown as JsonObject), text: modelText(report) };
}

/** The engine renders a call in the same way; the two packages share no code, so a change there belongs here too. */
function modelText({ text, error, metadata }: CallReport): string {
  const next = metadata['next_offset'];
  return [
    text,
    error === null ? '' : `error: ${error.code}: ${error.message}`,
    typeof next === 'number' ? `[next_offset: ${next}]` : '',
  ].reduce((before, part) =>
    before === '' || part === '' ? before + part : `${withoutEnd(before)}\n${part}`,
  );
}

function withoutEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
