import type { SessionFacts, SessionId } from '@agentd/contract';
import { countingIds } from '@agentd/contract/testing';
import { createDelegation, type Delegation } from '../create-delegation.ts';
import type { AgentListing, DelegationPorts } from '../ports.ts';
import { DEFAULT_DELEGATION_SETTINGS, type DelegationSettings } from '../settings.ts';
import { MemoryHost } from '../testing/memory-host.ts';
import type { MemoryCall, MemoryLoop } from '../testing/memory-run.ts';
import type { MemoryDisk } from '../testing/memory-store.ts';
import { textOf } from '../testing/memory-session.ts';

export const AGENTS: readonly AgentListing[] = [
  { id: 'lead', description: 'Leads.', mode: 'primary' },
  { id: 'explore', description: 'Reads code.', mode: 'subagent' },
  { id: 'build', description: 'Writes\n  code.', mode: 'all' },
];

export interface WorldInit {
  readonly loop?: MemoryLoop;
  readonly disk?: MemoryDisk;
  readonly ids?: DelegationPorts['ids'];
  readonly settings?: Partial<DelegationSettings>;
  readonly ports?: Partial<Pick<DelegationPorts, 'agents' | 'rules'>>;
}

export interface World {
  readonly host: MemoryHost;
  readonly delegation: Delegation;
  readonly ports: DelegationPorts;
}

/** A process: a memory host with delegation on top. */
export function world({ loop, disk, settings = {}, ports = {}, ids = countingIds() }: WorldInit = {}): World {
  const host = new MemoryHost({
    ids,
    ...(loop === undefined ? {} : { loop }),
    ...(disk === undefined ? {} : { disk }),
  });
  const all: DelegationPorts = {
    host,
    ids,
    agents: { list: async () => AGENTS },
    rules: { verdict: () => 'allow' },
    ...ports,
  };
  const delegation = createDelegation(all, { ...DEFAULT_DELEGATION_SETTINGS, ...settings });
  host.connect(delegation);
  return { host, delegation, ports: all };
}

/** A root in a run. */
export async function rootAtWork(host: MemoryHost): Promise<SessionFacts> {
  const root = await host.addRoot('lead');
  await host.prompt(root.sessionId, 'go');
  return root;
}

export interface Delegated {
  readonly call: Promise<MemoryCall>;
  /** The child; for a resumed one the same as before. */
  readonly child: SessionFacts;
}

const TASK = { description: 'Look around', prompt: 'Look around and report.', agent_type: 'explore' };

/** Calls delegate_subagent and waits until the child is there. */
export async function delegate(
  host: MemoryHost,
  parent: SessionFacts,
  args: Readonly<Record<string, unknown>> = {},
): Promise<Delegated> {
  const before = new Set((await host.tree(parent.rootId)).map(({ sessionId }) => sessionId));
  const call = host.call(parent.sessionId, 'delegate_subagent', { args: { ...TASK, ...args } });
  const child = await until(async () =>
    (await host.tree(parent.rootId)).find(
      ({ sessionId, parentId }) => parentId === parent.sessionId && !before.has(sessionId),
    ),
  );
  return { call, child };
}

/** Waits until the newest run of a session is there and active. */
export async function running(
  host: MemoryHost,
  { sessionId }: Pick<SessionFacts, 'sessionId'>,
): Promise<void> {
  await until(async () => ((await host.run(sessionId))?.status === 'running' ? true : undefined));
}

/** What the inbox of a session got from delegation, in order. */
export function told(host: MemoryHost, sessionId: SessionId): readonly string[] {
  return host
    .log(sessionId)
    .events.filter(({ payload }) => payload.type === 'message_accepted')
    .map(({ payload }) => textOf(payload, 'body'));
}

/** Types of the delegation events of a log, with what they are about. */
export function story(host: MemoryHost, sessionId: SessionId): readonly string[] {
  return host
    .log(sessionId)
    .events.filter(({ payload }) => payload.type.startsWith('delegation_'))
    .map(({ payload }) => payload.type.replace('delegation_', ''));
}

/** Gives everything that can go on its turn until `look` finds what it waits for. */
export async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let turn = 0; turn < 1000; turn += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('what was waited for did not come');
}

/** What a child said, of a result that shows all of it. */
export function reports({ text }: MemoryCall): string {
  return text.split('\n[subagent session')[0] ?? '';
}
