import { openaiTurn } from '@agentd/model-gateway/testing';

interface Wire {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
}

/** Sessions of the tree that `treeTurn` plays: a root, three leads, and workers of both. */
export const TREE_SIZE = 12;

/** Agent documents of the tree, by id. */
export const TREE_AGENTS: Readonly<Record<string, string>> = {
  default: document('primary', 'root'),
  lead: document('subagent', 'lead'),
  worker: document('subagent', 'worker'),
};

function document(mode: string, role: string): string {
  const permissions = '{ delegate: allow, message: allow }';
  return `---\ndescription: Plays the ${role}.\nmode: ${mode}\npermissions: ${permissions}\n---\nROLE=${role}.\n`;
}

let count = 0;

/** What the model does in answer to a request: delegate, write up and down the tree, and then only answer. */
export function treeTurn(body: unknown) {
  const { messages } = body as { readonly messages: readonly Wire[] };
  const system = textOf(messages.find(({ role }) => role === 'system'));
  const role = /ROLE=(\w+)/.exec(system)?.[1] ?? '';
  const step = messages.filter((message) => message.role === 'assistant').length;
  const calls = callsOf(role, step, {
    parent: /agent that started you is (\w+)/.exec(system)?.[1] ?? null,
    children: childrenIn(messages),
  });
  return calls.length === 0 ? openaiTurn({ text: `${role} heard it.` }) : openaiTurn({ calls });
}

interface Kin {
  readonly parent: string | null;
  readonly children: readonly string[];
}

function callsOf(role: string, step: number, { parent, children }: Kin) {
  if (step === 0 && role === 'root')
    return [
      ...['a', 'b', 'c'].map(() => delegate('lead', true)),
      delegate('worker', false),
      delegate('worker', false),
    ];
  if (step === 0 && role === 'lead')
    return [delegate('worker', true), delegate('worker', false), ...send(parent, 'steer')];
  if (step === 0) return send(parent, 'steer');
  if (step === 1 && role === 'worker') return send(parent, 'queue');
  if (step !== 1) return [];
  return [
    ...children.flatMap((child) => [...send(child, 'steer'), ...send(child, 'queue')]),
    ...send(parent, 'queue'),
  ];
}

function delegate(agent: string, background: boolean) {
  return call('delegate_subagent', {
    description: `a ${agent}`,
    prompt: 'Begin.',
    agent_type: agent,
    background,
  });
}

function send(to: string | null, mode: string) {
  return to === null ? [] : [call('send_message', { to, mode, body: `letter ${(count += 1)}` })];
}

function call(name: string, args: object) {
  return { id: `call_${(count += 1)}`, name, args };
}

/** Handles that start and end notices have named. */
function childrenIn(messages: readonly Wire[]): readonly string[] {
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  const named = results.flatMap((text) => /\[subagent session (\w+)/.exec(text)?.[1] ?? []);
  return [...new Set(named)];
}

function textOf(message: Wire | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { readonly text?: string }) => part.text ?? '').join('\n')
    : '';
}
