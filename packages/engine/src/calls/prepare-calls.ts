import type { AssistantToolCall, Clock, Ids, PrepareContext, PreparedCall, Tool } from '@agentd/contract';
import { callError, faultOf } from './call-fault.ts';
import { bareEnd, cancelledEnd, NOT_STARTED, type CallEnd, type StagedCall } from './call-stages.ts';
import { malformedArguments } from './malformed-arguments.ts';
import { preparedOperation } from './prepared-operation.ts';
import { settleWithGrace } from './settle-with-grace.ts';

export interface PreparePorts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The part of a turn that preparation reads. */
export interface PrepareRequest extends Pick<PrepareContext, 'session' | 'model'> {
  readonly calls: readonly AssistantToolCall[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly truncated?: boolean;
}

/** Prepares every call in call order, before any has an effect (SCH-5, SCH-11); one that fails ends alone (SCH-8). */
export async function prepareCalls(
  request: PrepareRequest,
  ports: PreparePorts,
  signal: AbortSignal,
): Promise<readonly StagedCall[]> {
  const { session, model } = request;
  const turn = {};
  const staged: StagedCall[] = [];
  for (const call of request.calls) {
    const context = { callId: ports.ids.uuid(), session, turn, model };
    const preparation = new Preparation(request, context, ports.clock);
    staged.push(await preparation.stage(call, signal));
  }
  return staged;
}

/** The preparation of one call. */
class Preparation {
  readonly #request: PrepareRequest;
  readonly #context: PrepareContext;
  readonly #clock: Clock;

  constructor(request: PrepareRequest, context: PrepareContext, clock: Clock) {
    this.#request = request;
    this.#context = context;
    this.#clock = clock;
  }

  async stage(call: AssistantToolCall, signal: AbortSignal): Promise<StagedCall> {
    const { callId } = this.#context;
    const { tools, truncated = false } = this.#request;
    const tool = tools.get(call.tool) ?? null;
    const settled = (end: CallEnd): StagedCall => ({
      stage: 'settled',
      callId,
      call,
      tool,
      operation: null,
      end,
    });
    if (signal.aborted) return settled(cancelledEnd(NOT_STARTED));
    if (tool === null) return settled(bareEnd(notPublished(call.tool, tools)));
    if (call.raw_input !== undefined) {
      return settled(bareEnd(malformedArguments(call.tool, call.raw_input, truncated)));
    }
    return this.#prepare({ call, tool, settled }, signal);
  }

  async #prepare(
    { call, tool, settled }: { call: AssistantToolCall; tool: Tool; settled: (end: CallEnd) => StagedCall },
    signal: AbortSignal,
  ): Promise<StagedCall> {
    // A tool that changes its arguments must not change the history.
    const args = structuredClone(call.input);
    const work = (async () => tool.prepare(args, this.#context, signal))();
    const result = await settleWithGrace(() => work, { clock: this.#clock, signal });
    if (result.kind === 'abandoned') {
      work.then(disposeLate, () => undefined);
      return settled(cancelledEnd(`the run was cancelled and ${call.tool} did not stop preparing`));
    }
    if (result.kind === 'thrown') {
      return settled(signal.aborted ? cancelledEnd(NOT_STARTED) : bareEnd(faultOf(call.tool, result.thrown)));
    }
    try {
      const operation = preparedOperation(tool.spec, result.value);
      return { stage: 'ready', callId: this.#context.callId, call, tool, operation };
    } catch (thrown) {
      disposeLate(result.value);
      return settled(bareEnd(faultOf(call.tool, thrown)));
    }
  }
}

function notPublished(name: string, tools: ReadonlyMap<string, Tool>): ReturnType<typeof callError> {
  const names = [...tools.keys()];
  const list = names.length === 0 ? 'none is' : `published are: ${names.join(', ')}`;
  return callError('not_published', `no tool ${JSON.stringify(name)} is published to this run; ${list}`);
}

/** For a preparation that nobody waits for any more: what it holds is freed, and a fault of that has no reader. */
function disposeLate(prepared: PreparedCall): void {
  (async () => prepared.dispose?.())().catch(() => undefined);
}
