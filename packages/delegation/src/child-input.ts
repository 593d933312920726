import type { DelegationRecord } from './delegation-record.ts';

/** How much of a conversation a child may inherit: UTF-8 bytes (DLG-12). */
export const INHERITED_BYTES = 64 * 1024;

/** What a child's run starts with: the prompt, after the conversation that it inherits, if any (DLG-12). */
export function childInput({ prompt, inherited }: Pick<DelegationRecord, 'prompt' | 'inherited'>): string {
  if (inherited === null || inherited.trim() === '') return prompt;
  return `<inherited_context>\n${escaped(inherited)}\n</inherited_context>\n\n${prompt}`;
}

/** The frame cannot be closed from inside; nothing else is touched. */
function escaped(text: string): string {
  return text.replaceAll(/<(?=\/?inherited_context)/g, '&lt;');
}
