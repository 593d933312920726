import type { AssistantPart, ModelMessage, ModelStreamPart, ToolResultPart } from '@agentd/contract';

/** What an engine stores of a streamed turn: parts by id, the last provider data of each. */
export function stored(parts: readonly ModelStreamPart[]): AssistantPart[] {
  const content = new Map<string, AssistantPart>();
  for (const part of parts) {
    if (part.type === 'tool-call') {
      content.set(`call ${content.size}`, {
        type: 'tool_call',
        provider_call_id: part.providerCallId,
        tool: part.tool,
        input: JSON.parse(part.input),
        ...(part.providerData === undefined ? {} : { provider_data: part.providerData }),
      });
    } else if (part.type !== 'finish') {
      const known = content.get(part.id);
      const before = known === undefined || known.type === 'tool_call' ? '' : known.text;
      const data = part.providerData ?? known?.provider_data;
      content.set(part.id, {
        type: part.type === 'text-delta' ? 'text' : 'reasoning',
        text: before + part.text,
        ...(data === undefined ? {} : { provider_data: data }),
      });
    }
  }
  return [...content.values()];
}

export const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

export const call = (id: string): AssistantPart => ({
  type: 'tool_call',
  provider_call_id: id,
  tool: 'read',
  input: { path: id },
});

export const result = (id: string, text: string, is_error = false): ToolResultPart => ({
  type: 'tool_result',
  provider_call_id: id,
  tool: 'read',
  text,
  is_error,
});

/** A step of a model that reads `a` and `b`, and fails with the second. */
export const step = (model: string): readonly ModelMessage[] => [
  user('Read both'),
  { role: 'assistant', model, content: [{ type: 'text', text: 'Yes.' }, call('a'), call('b')] },
  { role: 'tool', content: [result('a', 'AAA'), result('b', 'not_found: no b', true)] },
];
