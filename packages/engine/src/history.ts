import type { ModelMessage } from '@agentd/contract';
import { LOST_RESULT, type TurnCall } from './call-ledger.ts';
import { checkpointText } from './context/checkpoint-text.ts';
import type { ContextView } from './context/context-ledger.ts';
import { messagesTokens } from './context/estimate.ts';
import type { EventOf } from './events.ts';
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

/** A step whose calls all have their result, or never will: its messages stand until a result is elided. */
interface Rendered {
  readonly step: Step;
  readonly elided: number;
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
}

interface View {
  readonly revision: number;
  readonly covered: number;
  readonly notes: unknown;
  /** Notes and checkpoint. */
  readonly head: readonly ModelMessage[];
  readonly headTokens: number;
  readonly rendered: Rendered[];
  /** Those of `rendered`. */
  readonly messages: ModelMessage[];
  tokens: number;
}

/** Estimated tokens of a history. */
export interface HistorySize {
  readonly tokens: number;
  /** Those of `tokens` that came after the newest turn. */
  readonly newTokens: number;
}

/** What stands after the finished steps. */
interface Tail {
  readonly view: View;
  /** Of a step whose calls are not all over. */
  readonly open: readonly ModelMessage[];
  readonly pending: readonly ModelMessage[];
}

const views = new WeakMap<SessionState, View>();

/**
 * The conversation as a model reads it, valid for every provider whatever happened (SES-5).
 *   H1. A turn with calls is followed by exactly one `tool` message: one result a call, in call order (SCH-7, I1).
 *   H2. A call without a result gets one that says so; a result without its call is left out (field J5).
 *   H3. Inputs stand before the turn that took them into account, and after the results of the turn before it.
 *   H4. No text is blank; an assistant never comes first, nor directly after another.
 *   H5. What was returned for a finished step changes only where its output is elided, so that one more turn costs one
 *       more turn.
 *   H6. A checkpoint stands in for the steps that it covers, as a message of the user (SES-8).
 *   H7. An elided result keeps its place, its outcome and its error, and loses its files (MED-9).
 */
export function modelMessages(state: SessionState): readonly ModelMessage[] {
  const { view, open, pending } = tailOf(state);
  return [...view.head, ...view.messages, ...open, ...pending];
}

/** The size of `modelMessages`. It costs what the newest turn costs, however many there are. */
export function historySize(state: SessionState): HistorySize {
  const { view, open, pending } = tailOf(state);
  const newest = open.at(-1) ?? view.messages.at(-1);
  const after = messagesTokens(pending);
  return {
    tokens: view.headTokens + view.tokens + messagesTokens(open) + after,
    newTokens: after + (newest?.role === 'tool' ? messagesTokens([newest]) : 0),
  };
}

function tailOf(state: SessionState): Tail {
  const view = currentView(state);
  const { steps, pendingTexts } = state;
  const open: ModelMessage[] = [];
  for (const step of steps.slice(view.covered + view.rendered.length)) {
    const before = open.at(-1) ?? lastOf(view);
    const messages = stepMessages(step, before?.role);
    const isFinal = step !== steps.at(-1) || step.calls.every(({ report }) => report !== null);
    if (isFinal) keep(view, step, messages);
    else open.push(...messages);
  }
  return { view, open, pending: userMessages(pendingTexts) };
}

/** Estimated tokens of the steps that the history shows, oldest first; open ones are left out. */
export function stepTokens(state: SessionState): readonly number[] {
  return tailOf(state).view.rendered.map(({ tokens }) => tokens);
}

/** The view, brought up to what was taken out since. */
function currentView(state: SessionState): View {
  const { context } = state;
  const known = views.get(state);
  const notes = context.notes ?? state.notes;
  if (known !== undefined && known.revision === context.revision && known.notes === notes) return known;
  const head = headMessages(notes, context);
  const view: View = {
    revision: context.revision,
    covered: context.covered,
    notes,
    head,
    headTokens: messagesTokens(head),
    rendered: [],
    messages: [],
    tokens: 0,
  };
  // What comes first depends on what stands before it.
  const isSameStart = known?.covered === view.covered && known.head.length === head.length;
  for (const { step, elided, messages } of isSameStart ? known.rendered : []) {
    const isSame = elided === elidedOf(step);
    keep(view, step, isSame ? messages : stepMessages(step, lastOf(view)?.role));
  }
  views.set(state, view);
  return view;
}

function headMessages(
  notes: EventOf<'agents_md_loaded'> | null,
  { checkpoint, files }: ContextView,
): readonly ModelMessage[] {
  return [
    ...(notes === null ? [] : userMessages([agentsMdText(notes)])),
    ...(checkpoint === null ? [] : userMessages([checkpointText(checkpoint, files)])),
  ];
}

function keep(view: View, step: Step, messages: readonly ModelMessage[]): void {
  const tokens = messagesTokens(messages);
  view.rendered.push({ step, elided: elidedOf(step), messages, tokens });
  view.messages.push(...messages);
  view.tokens += tokens;
}

function lastOf({ head, messages }: View): ModelMessage | undefined {
  return messages.at(-1) ?? head.at(-1);
}

function elidedOf({ calls }: Step): number {
  return calls.filter(({ marker }) => marker !== null).length;
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
    content: calls.map((call) => {
      const text = resultText(call);
      return {
        type: 'tool_result',
        provider_call_id: call.wireId,
        tool: wireToolName(call.tool),
        text: isBlank(text) ? MARKS.output : text,
        is_error: call.report?.outcome !== 'completed',
        ...(call.marker === null ? soundAttachments(call.report) : {}),
      };
    }),
  };
}

/** What a model reads of a call now. */
export function resultText({ report, marker }: Pick<TurnCall, 'report' | 'marker'>): string {
  const result = report === null || marker === null ? report : { ...report, text: marker };
  return visibleText(modelTextOf({ result, error: report === null ? LOST_RESULT : report.error }));
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
