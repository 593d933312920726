import type {
  Clock,
  Ids,
  ModelInfo,
  OutputLimits,
  OutputStore,
  PrepareContext,
  Tool,
} from '@agentd/contract';
import { CallExecution } from '../calls/execute-call.ts';
import type { ReadyCall, StagedCall } from '../calls/call-stages.ts';
import { prepareCalls } from '../calls/prepare-calls.ts';
import { decide, type RuleLayers } from '../permissions/decide.ts';
import type { GrantView } from '../permissions/grants.ts';
import type { StartedCall } from '../call-ledger.ts';
import type { EngineEvent, PermissionMode } from '../events.ts';
import type { EventSink } from '../ports.ts';
import type { Step } from '../session-state.ts';
import type { RehydratedFile } from './context-ledger.ts';
import { beginning } from './shorten.ts';

/** SES-8. */
const MOST_FILES = 5;
const LONGEST_FILE = 32 * 1024;

/** A read that a checkpoint took out of sight. */
export interface FileRead {
  readonly tool: string;
  readonly label: string;
  readonly args: StartedCall['args'];
}

/**
 * The files that were read last, newest first, as far as the history no longer shows them. A call has read a file when
 * its action is `read` and its metadata says `kind: "text"`.
 */
export function filesReadLast(covered: readonly Step[], kept: readonly Step[]): readonly FileRead[] {
  const seen = new Set(readsOf(kept).flatMap(({ label, isShown }) => (isShown ? [label] : [])));
  const last = new Map<string, FileRead>();
  for (let place = covered.length - 1; place >= 0 && last.size < MOST_FILES; place -= 1) {
    for (const read of readsOf(covered.slice(place, place + 1)).toReversed())
      if (!seen.has(read.label) && !last.has(read.label) && last.size < MOST_FILES)
        last.set(read.label, read);
  }
  return [...last.values()];
}

function readsOf(steps: readonly Step[]): readonly (FileRead & { readonly isShown: boolean })[] {
  return steps.flatMap(({ calls }) =>
    calls.flatMap(({ tool, started, report, marker }) => {
      const isFile = report?.outcome === 'completed' && report.metadata['kind'] === 'text';
      const { action = null, label = null, args } = started ?? {};
      return isFile && action === 'read' && label !== null
        ? [{ tool, label, args, isShown: marker === null }]
        : [];
    }),
  );
}

export interface RereadPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outputs: OutputStore;
  readonly grants: GrantView;
  readonly limits: OutputLimits;
}

export interface RereadRequest {
  readonly reads: readonly FileRead[];
  readonly session: PrepareContext['session'];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly model: ModelInfo;
  readonly rules: RuleLayers;
  readonly mode: PermissionMode;
  /** For all files together. */
  readonly maxBytes: number;
}

/**
 * Reads files again, with the calls that read them first. It asks nobody: what the rules, a grant or the mode do not
 * allow is left out, and so is what cannot be read any more. No events, no artifacts, no attachments.
 */
export async function rereadFiles(
  ports: RereadPorts,
  request: RereadRequest,
  signal: AbortSignal,
): Promise<readonly RehydratedFile[]> {
  const calls = request.reads.map(({ tool, args }, index) => ({
    type: 'tool_call' as const,
    provider_call_id: `context-rehydration-${index}`,
    tool,
    input: args as never,
  }));
  const staged = await prepareCalls({ ...request, calls }, ports, signal);
  const files: RehydratedFile[] = [];
  let left = request.maxBytes;
  try {
    for (const call of staged) {
      if (left <= 0 || !mayRead(call, request, ports.grants)) continue;
      const text = beginning(await readAgain(call, ports, signal), Math.min(left, LONGEST_FILE));
      if (text.trim() === '') continue;
      files.push({ label: call.operation.permission.label, text });
      left -= Buffer.byteLength(text);
    }
  } finally {
    await Promise.allSettled(staged.map(async ({ operation }) => operation?.dispose()));
  }
  signal.throwIfAborted();
  return files;
}

/** A tool that pages itself stores nothing when it runs. */
function mayRead(call: StagedCall, { rules, mode }: RereadRequest, grants: GrantView): call is ReadyCall {
  if (call.stage !== 'ready' || call.tool.spec.truncation !== 'opt_out') return false;
  const { permission } = call.operation;
  const { effect } = decide(permission, rules);
  return effect === 'allow' || (effect === 'ask' && (mode === 'yolo' || grants.has(permission)));
}

async function readAgain(
  call: ReadyCall,
  { clock, outputs, limits }: RereadPorts,
  signal: AbortSignal,
): Promise<string> {
  const execution = new CallExecution(
    { clock, outputs, limits, sink: NO_EVENTS, live: () => undefined },
    call,
    signal,
  );
  const end = await execution.run(null);
  await end.release?.();
  return end.outcome === 'completed' ? (end.result?.text ?? '') : '';
}

/** What the call has to say while it runs is for nobody. */
const NO_EVENTS: EventSink = {
  append: (payload) => ({ payload }) as EngineEvent,
  sync: async () => undefined,
};
