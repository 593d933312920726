import { z } from 'zod';
import {
  defineTool,
  type ModelClient,
  type ModelInfo,
  type PermissionAction,
  type PermissionEffect,
  type Tool,
  type ToolProvider,
} from '@agentd/contract';
import {
  countingIds,
  deferred,
  flush,
  manualClock,
  memoryOutputStore,
  sequenceModel,
  type SequenceModel,
  type SequenceTurn,
} from '@agentd/contract/testing';
import type { AgentDocument } from '../agent-document.ts';
import { createEngine } from '../engine.ts';
import { engineError } from '../errors.ts';
import type { EngineEvent, EnginePayload } from '../events.ts';
import type { Approver, EnginePorts, LiveEvent, SessionStore, WorkspaceNotes } from '../ports.ts';
import type { RunInit, Session } from '../session.ts';
import type { SessionListener } from '../session-journal.ts';
import { memorySessionStore } from './memory-session-store.ts';

export interface HarnessInit {
  /** Turns of `test/a`; more models by name in `models`. */
  readonly turns?: readonly SequenceTurn[];
  readonly info?: Partial<ModelInfo>;
  readonly models?: Readonly<Record<string, ModelClient>>;
  readonly tools?: readonly Tool[];
  readonly providers?: readonly ToolProvider[];
  readonly permissions?: Readonly<Partial<Record<PermissionAction, PermissionEffect>>>;
  readonly agent?: Partial<AgentDocument>;
  readonly approver?: Approver;
  readonly notes?: WorkspaceNotes['load'];
  readonly sessions?: SessionStore;
  readonly ports?: Partial<EnginePorts>;
}

/** An engine on fakes of its ports; everything that it shows is collected. */
export function engineHarness(init: HarnessInit = {}) {
  const clock = manualClock();
  const memory = memorySessionStore(clock.now);
  const outputs = memoryOutputStore();
  const model: SequenceModel = sequenceModel(init.turns ?? [], { id: 'test/a', ...init.info });
  const models: Readonly<Record<string, ModelClient>> = { 'test/a': model, ...init.models };
  const agent = agentDocument(init);
  const ports: EnginePorts = {
    clock,
    ids: countingIds(),
    sessions: init.sessions ?? memory,
    outputs,
    models: {
      open: async (id) => {
        const found = models[id];
        if (found === undefined) throw engineError('ENGINE_MODEL_UNKNOWN', `no model ${id}`);
        return found;
      },
    },
    agents: { find: (id) => (id === agent.id ? agent : undefined), ids: () => [agent.id] },
    tools: init.providers ?? [{ id: 'test.tools', tools: async () => init.tools ?? [] }],
    notes: { load: init.notes ?? (async () => null) },
    approver: init.approver ?? {
      ask: async () => ({ decision: 'reject', source: 'policy', feedback: null }),
    },
    ...init.ports,
  };
  const engine = createEngine(ports, {
    version: 'test',
    outputLimits: { maxLines: 2000, maxBytes: 51_200, maxCaptureBytes: 1024 ** 3 },
    retry: { standard: 3, overload: 5, ceilingMs: 60_000 },
  });
  const shown: EngineEvent[] = [];
  const live: LiveEvent[] = [];
  const listener: SessionListener = {
    event: (event) => shown.push(event),
    live: (event) => live.push(event),
  };
  return {
    clock,
    engine,
    listener,
    live,
    memory,
    model,
    outputs,
    /** Events that the listener was shown. */
    shown,
    types: () => shown.map(({ payload }) => payload.type),
    create: () => engine.createSession({ cwd: '/project', agent: 'default', listener }),
  };
}

export type Harness = ReturnType<typeof engineHarness>;

function agentDocument({ permissions = { read: 'allow' }, agent }: HarnessInit): AgentDocument {
  return {
    id: 'default',
    description: 'Helps.',
    mode: 'all',
    models: [],
    permissions: Object.entries(permissions).map(([action, effect]) => ({
      action: action as PermissionAction,
      pattern: '*',
      effect,
    })),
    maxOutputTokens: null,
    prompt: 'You help.',
    ...agent,
  };
}

/** A run with what a test does not care about filled in. */
export function runInit(init: Partial<RunInit> = {}): RunInit {
  return {
    clientRunId: 'run-1',
    input: 'hello',
    models: ['test/a'],
    maxTurns: 20,
    timeoutMs: 600_000,
    ...init,
  };
}

/** Starts a run and waits for its end. */
export async function runToEnd(session: Session, init: Partial<RunInit> = {}) {
  const { done } = await session.startRun(runInit(init));
  return done;
}

/** A tool that answers `did LABEL` at once. */
export function instantTool(name = 'look', action: PermissionAction = 'read'): Tool {
  return heldTool(name, { action }).tool;
}

interface HeldToolInit {
  readonly action?: PermissionAction;
  readonly hold?: boolean;
}

/** A tool whose calls wait, each for its own release, when `hold` is set. */
export function heldTool(name: string, { action = 'read', hold = false }: HeldToolInit = {}) {
  const started: string[] = [];
  const gates = new Map<string, ReturnType<typeof deferred<void>>>();
  const gateOf = (label: string) => {
    const gate = gates.get(label) ?? deferred();
    gates.set(label, gate);
    return gate;
  };
  const tool = defineTool({
    name,
    description: `Does ${name}.`,
    action,
    concurrency: 'parallel',
    schema: z.strictObject({ label: z.string() }),
    prepare: async ({ label }) => ({
      permission: { action, label },
      operation: label,
      execute: async (_context, signal) => {
        started.push(label);
        if (hold) await Promise.race([gateOf(label).promise, rejectionOf(signal)]);
        return { output: { kind: 'single', text: `did ${label}` } };
      },
    }),
  });
  return { tool, started, release: (label: string) => gateOf(label).resolve() };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Lets everything go on until `ready` holds; fails where it never does. Real disks need a moment, fakes none. */
export async function until(ready: () => boolean): Promise<void> {
  for (let step = 0; step < 20_000; step += 1) {
    if (ready()) return;
    await (step < 100 ? flush() : new Promise((resolve) => setTimeout(resolve, 5)));
  }
  throw new Error('what the test waits for did not come about');
}

/** The payloads of one type. */
export function payloadsOf<Type extends EnginePayload['type']>(
  events: readonly EngineEvent[],
  type: Type,
): readonly Extract<EnginePayload, { type: Type }>[] {
  return events.flatMap(({ payload }) =>
    payload.type === type ? [payload as Extract<EnginePayload, { type: Type }>] : [],
  );
}
