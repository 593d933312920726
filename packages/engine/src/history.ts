import type { ModelMessage } from '@agentd/contract';
import { LOST_RESULT } from './call-ledger.ts';
import { assistantParts, isBlank, soundAttachments, visibleText } from './history-parts.ts';
import { agentsMdText } from './input-ledger.ts';
import { modelTextOf } from './model-text.ts';
import type { SessionState, Step } from './session-state.ts';
import { wireToolName } from './tool-name.ts';

/** What stands in for text that is not there: providers refuse empty text, for ever where it is history (field I5). */
const MARKS = {
  input: '(empty message)',
  lostInput: '(no message recorded)',
  output: '(no output)',
} as const;

/** Steps whose calls all have their result, or never will: their messages stand. */
interface Prefix {
  readonly messages: ModelMessage[];
  steps: number;
}

const prefixes = new WeakMap<SessionState, Prefix>();

/**
 * The conversation as a model reads it, valid for every provider whatever happened (SES-5).
 *   H1. A turn with calls is followed by exactly one `tool` message: one result a call, in call order (SCH-7, I1).
 *   H2. A call without a result gets one that says so; a result without its call is left out (field J5).
 *   H3. Inputs stand before the turn that took them into account, and after the results of the turn before it.
 *   H4. No text is blank; an assistant never comes first, nor directly after another.
 *   H5. What was returned for a finished step never changes, so that one more turn costs one more turn.
 */
export function modelMessages(state: SessionState): readonly ModelMessage[] {
  const prefix = prefixes.get(state) ?? { messages: [], steps: 0 };
  prefixes.set(state, prefix);
  const open: ModelMessage[] = [];
  for (const step of state.steps.slice(prefix.steps)) {
    const isFinal = step !== state.steps.at(-1) || step.calls.every(({ report }) => report !== null);
    const before = open.at(-1) ?? prefix.messages.at(-1) ?? notesOf(state).at(-1);
    (isFinal ? prefix.messages : open).push(...stepMessages(step, before?.role));
    if (isFinal) prefix.steps += 1;
  }
  return [...notesOf(state), ...prefix.messages, ...open, ...userMessages(state.pendingTexts)];
}

function notesOf({ notes }: SessionState): readonly ModelMessage[] {
  return notes === null ? [] : userMessages([agentsMdText(notes)]);
}

function stepMessages(step: Step, before: ModelMessage['role'] | undefined): readonly ModelMessage[] {
  const inputs = userMessages(step.inputs);
  const lacksInput = inputs.length === 0 && (before === undefined || before === 'assistant');
  return [
    ...(lacksInput ? userMessages([MARKS.lostInput]) : inputs),
    { role: 'assistant', model: step.model, content: assistantParts(step) },
    ...(step.calls.length === 0 ? [] : [results(step)]),
  ];
}

function results({ calls }: Step): ModelMessage {
  return {
    role: 'tool',
    content: calls.map(({ wireId, tool, report }) => {
      const text = visibleText(
        modelTextOf({ result: report, error: report === null ? LOST_RESULT : report.error }),
      );
      return {
        type: 'tool_result',
        provider_call_id: wireId,
        tool: wireToolName(tool),
        text: isBlank(text) ? MARKS.output : text,
        is_error: report?.outcome !== 'completed',
        ...soundAttachments(report),
      };
    }),
  };
}

function userMessages(texts: readonly string[]): readonly ModelMessage[] {
  if (texts.length === 0) return [];
  const said = texts.filter((text) => !isBlank(text)).map(visibleText);
  return [
    {
      role: 'user',
      content: (said.length === 0 ? [MARKS.input] : said).map((text) => ({ type: 'text', text })),
    },
  ];
}
