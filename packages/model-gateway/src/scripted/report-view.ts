import type { CallReport, JsonObject } from '@agentd/contract';

/** A call's report as templates see it: the object of CLI-6, its `text` as the model saw it (ERR-2, SCR-3). */
export function reportView(report: CallReport): JsonObject {
  return { ...(report as unknown as JsonObject), text: modelText(report) };
}

function modelText({ text, outcome, error, metadata }: CallReport): string {
  const failed = outcome !== 'completed' && error !== null ? [`${error.code}: ${error.message}`] : [];
  const next = metadata['next_offset'];
  const more = typeof next === 'number' ? [`[next_offset: ${next}]`] : [];
  return [text, ...failed, ...more].filter((part) => part !== '').reduce(onItsOwnLine, '');
}

function onItsOwnLine(before: string, part: string): string {
  return before === '' || before.endsWith('\n') ? before + part : `${before}\n${part}`;
}
