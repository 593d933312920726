import { equal, ok } from 'node:assert/strict';
import { isJsonObject, type AssistantToolCall, type ModelMessage, type ModelRequest } from '@agentd/contract';

/**
 * What every provider demands of a conversation: it begins with the user, no text block is blank, ids are well-formed
 * and unique, and a step with calls is followed by exactly one message with one result a call, in call order.
 */
export function assertValidRequest({ messages }: ModelRequest): void {
  ok(messages.length > 0, 'no message');
  equal(messages[0]?.role, 'user', 'the conversation begins with the user');
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    ok(message.content.length > 0, `message ${index} is empty`);
    if (message.role === 'tool') {
      equal(messages[index - 1]?.role, 'assistant', 'results follow their step');
      continue;
    }
    for (const part of message.content)
      if (part.type === 'text') ok(part.text.trim() !== '', `message ${index} has a blank text block`);
    if (message.role === 'assistant') assertAnswered(callsOf(message), messages[index + 1], seen);
  }
}

function callsOf({ content }: Extract<ModelMessage, { role: 'assistant' }>): readonly AssistantToolCall[] {
  return content.filter((part) => part.type === 'tool_call');
}

function assertAnswered(
  calls: readonly AssistantToolCall[],
  next: ModelMessage | undefined,
  seen: Set<string>,
): void {
  for (const { provider_call_id: id, input } of calls) {
    ok(/^[A-Za-z0-9_-]{1,64}$/.test(id), `the call id ${JSON.stringify(id)} is malformed`);
    ok(!seen.has(id), `the call id ${id} is used twice`);
    ok(isJsonObject(input), 'the arguments of a call are an object');
    seen.add(id);
  }
  const results = next?.role === 'tool' ? next.content : [];
  // As text: under Jest a cloned array has another prototype than ours, which a strict comparison minds.
  equal(idsOf(results), idsOf(calls), 'one result a call, in call order');
}

function idsOf(parts: readonly { readonly provider_call_id: string }[]): string {
  return parts.map((part) => part.provider_call_id).join(' ');
}
