import type {
  AssistantToolCall,
  AttachmentBudget,
  JsonObject,
  JsonValue,
  ModelInfo,
  OutputStore,
  PreparedCall,
  PrepareContext,
  Tool,
  ToolCompletion,
  ToolSpec,
} from '@agentd/contract';
import { DEFAULT_OUTPUT_LIMITS } from '@agentd/contract';
import { countingIds, manualClock, memoryOutputStore } from '@agentd/contract/testing';
import type { EngineEvent, EnginePayload, EventOf } from '../../events.ts';
import { ApprovalLedger } from '../../permissions/grants.ts';
import type { ApprovalAnswer, ApprovalQuestion, Approver, EventSink, LiveEvent } from '../../ports.ts';
import { TurnCalls, type TurnRequest } from '../turn-calls.ts';

/** A sink that keeps what it is given, and how much of it was on disk. */
export function recordingSink(beforeSync: () => Promise<void> = async () => undefined) {
  const payloads: EnginePayload[] = [];
  const journal: string[] = [];
  const grants = new ApprovalLedger();
  let synced = 0;
  const sink: EventSink = {
    append: (payload) => {
      payloads.push(structuredClone(payload));
      journal.push(payload.type);
      grants.apply(payload);
      return { seq: payloads.length, payload } as EngineEvent;
    },
    sync: async () => {
      const upTo = payloads.length;
      await beforeSync();
      synced = Math.max(synced, upTo);
      journal.push('sync');
    },
  };
  const of = <Type extends EnginePayload['type']>(type: Type): readonly EventOf<Type>[] =>
    payloads.filter((payload) => payload.type === type) as unknown as readonly EventOf<Type>[];
  return { sink, grants, payloads, journal, of, isSynced: () => synced === payloads.length };
}

export type RecordedLog = ReturnType<typeof recordingSink>;

/** An approver that plays answers in order and keeps the questions. */
export function scriptedApprover(answers: readonly (Partial<ApprovalAnswer> | Error)[]) {
  const questions: ApprovalQuestion[] = [];
  const approver: Approver = {
    ask: async (question) => {
      const answer = answers[questions.length];
      questions.push(question);
      if (answer === undefined || 'stack' in answer) throw answer ?? new Error('nobody was expected to ask');
      return { decision: 'once', source: 'user', feedback: null, ...answer };
    },
  };
  return { approver, questions };
}

export interface ToolInit extends Partial<ToolSpec> {
  /** The label that the call asks for; its arguments as JSON by default. */
  readonly label?: string;
  readonly operation?: JsonValue;
  readonly key?: string;
  readonly standsFor?: PreparedCall['standsFor'];
  readonly revalidate?: PreparedCall['revalidate'];
  readonly execute?: PreparedCall['execute'];
  readonly dispose?: PreparedCall['dispose'];
  /** Runs before the call is prepared, and may throw. */
  readonly onPrepare?: (args: unknown, context: PrepareContext, signal: AbortSignal) => void | Promise<void>;
}

/** A tool that says `ran NAME`, unless told otherwise. */
export function fakeTool(init: ToolInit): Tool {
  const { label, operation, key, standsFor, revalidate, execute, dispose, onPrepare, ...overrides } = init;
  const spec: ToolSpec = {
    name: 'tool',
    description: 'A tool.',
    parameters: { type: 'object' },
    action: 'read',
    concurrency: 'parallel',
    output: { kind: 'single' },
    truncation: 'bounded',
    origin: 'builtin',
    ...overrides,
  };
  const prepare: Tool['prepare'] = async (args, context, signal) => {
    await onPrepare?.(args, context, signal);
    return {
      permission: { action: spec.action, label: label ?? JSON.stringify(args) },
      operation: operation ?? (args as JsonObject),
      execute: execute ?? (async () => said(`ran ${spec.name}`)),
      ...(key === undefined ? {} : { serializationKey: key }),
      ...(standsFor === undefined ? {} : { standsFor }),
      ...(revalidate === undefined ? {} : { revalidate }),
      ...(dispose === undefined ? {} : { dispose }),
    };
  };
  return { spec, prepare };
}

export function said(text: string): ToolCompletion {
  return { output: { kind: 'single', text } };
}

export function callOf(tool: string, input: JsonValue = {}, rawInput?: string): AssistantToolCall {
  return {
    type: 'tool_call',
    provider_call_id: `call_${tool}`,
    tool,
    input,
    ...(rawInput === undefined ? {} : { raw_input: rawInput }),
  };
}

export interface TurnInit {
  readonly approver?: Approver;
  readonly outputs?: OutputStore;
  readonly attachments?: AttachmentBudget;
  readonly beforeSync?: () => Promise<void>;
}

/** The runtime on ports that the test holds. Rules allow everything unless the test says otherwise. */
export function turnFixture(tools: readonly Tool[], init: TurnInit = {}) {
  const clock = manualClock();
  const store = memoryOutputStore();
  const live: LiveEvent[] = [];
  const log = recordingSink(init.beforeSync);
  const cancel = new AbortController();
  const turnCalls = new TurnCalls({
    clock,
    ids: countingIds(),
    outputs: init.outputs ?? store,
    attachments: init.attachments,
    approver: init.approver ?? scriptedApprover([]).approver,
    grants: log.grants,
    sink: log.sink,
    live: (event) => live.push(event),
    limits: DEFAULT_OUTPUT_LIMITS,
  });
  const request = (
    calls: readonly AssistantToolCall[],
    overrides: Partial<TurnRequest> = {},
  ): TurnRequest => ({
    runId: 'run',
    session: { id: 'session', cwd: '/', agent: 'default' },
    calls,
    tools: new Map(tools.map((tool) => [tool.spec.name, tool])),
    model: null,
    rules: { document: allowAll, overlay: [] },
    mode: 'ask',
    ...overrides,
  });
  return {
    clock,
    store,
    live,
    log,
    cancel,
    turnCalls,
    run: (calls: readonly AssistantToolCall[], overrides?: Partial<TurnRequest>) =>
      turnCalls.run(request(calls, overrides), cancel.signal),
  };
}

const allowAll = (['read', 'write', 'bash', 'mcp', 'plugin'] as const).map((action) => ({
  action,
  pattern: '*',
  effect: 'allow' as const,
}));

export const textModel: ModelInfo = {
  id: 'test/model',
  provider: 'test',
  model: 'model',
  family: 'openai-chat',
  input: ['text'],
  toolCalling: true,
  contextTokens: 1000,
  outputTokens: 100,
};
