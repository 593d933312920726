import {
  isJsonObject,
  type AssistantPart,
  type AssistantToolCall,
  type CallReport,
  type JsonObject,
  type ToolResultPart,
} from '@agentd/contract';
import { z } from 'zod';
import type { Step } from './session-state.ts';
import { wireToolName } from './tool-name.ts';

/** A turn that says and calls nothing still needs a text. */
const NO_TEXT = '(no text)';

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Text as a request may hold it: no half surrogate pair, no NUL. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u2400');
}

/** The parts of a turn. Reasoning may have no text and still be signed. */
export function assistantParts({ content, calls }: Step): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  let call = 0;
  for (const part of content) {
    if (part.type === 'tool_call') parts.push(wireCall(part, calls[call++]?.wireId ?? part.provider_call_id));
    else if (part.type === 'reasoning') parts.push(...reasoning(part));
    else if (!isBlank(part.text)) parts.push({ ...part, text: visibleText(part.text) });
  }
  const says = parts.some(({ type }) => type !== 'reasoning');
  return says ? parts : [...parts, { type: 'text', text: NO_TEXT }];
}

const attachment = z.object({
  mime_type: z.string(),
  byte_length: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  filename: z.string().nullable(),
  reference: z.object({ uri: z.string() }),
});

/** The files of a result, as far as the log has them whole; nothing where there are none. */
export function soundAttachments(report: CallReport | null): Pick<ToolResultPart, 'attachments'> {
  const attachments = (report?.attachments ?? []).flatMap((file) => attachment.safeParse(file).data ?? []);
  return attachments.length === 0 ? {} : { attachments };
}

type Reasoning = Extract<AssistantPart, { type: 'reasoning' }>;

function reasoning(part: Reasoning): readonly Reasoning[] {
  // What is signed goes back as it came (field I12).
  if (part.provider_data !== undefined) return [{ ...part, text: part.text.toWellFormed() }];
  return isBlank(part.text) ? [] : [{ ...part, text: visibleText(part.text) }];
}

/** What the model wrote stays in the log; a request holds an object (field I13). */
function wireCall(
  { provider_data: data, input, tool }: AssistantToolCall,
  wireId: string,
): AssistantToolCall {
  return {
    type: 'tool_call',
    provider_call_id: wireId,
    tool: wireToolName(tool),
    input: isJsonObject(input) ? soundInput(input) : {},
    ...(data === undefined ? {} : { provider_data: data }),
  };
}

/** Escapes of what `visibleText` replaces. */
const UNSOUND = /\\u(?:0000|d[89a-f])/;

function soundInput(input: JsonObject): JsonObject {
  const json = JSON.stringify(input);
  return UNSOUND.test(json) ? (JSON.parse(json, soundValue) as JsonObject) : input;
}

function soundValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [visibleText(key), child]));
}
