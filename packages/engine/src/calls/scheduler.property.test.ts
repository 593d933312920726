import { describe, expect, it } from '@jest/globals';
import { toolError, type CallOutcome, type ToolCompletion } from '@agentd/contract';
import { deferred, flush, type Deferred } from '@agentd/contract/testing';
import fc from 'fast-check';
import { callOf, fakeTool, said, turnFixture } from './testing/turn-fixture.ts';

/** How one call of the random turn behaves. */
interface Plan {
  readonly concurrency: 'parallel' | 'exclusive';
  readonly key: 'a' | 'b' | null;
  readonly fate: 'completes' | 'throws' | 'returns an error' | 'fails to prepare' | 'is denied' | 'is stale';
}

const plan: fc.Arbitrary<Plan> = fc.record({
  concurrency: fc.constantFrom('parallel', 'parallel', 'exclusive'),
  key: fc.constantFrom('a', 'b', null),
  fate: fc.constantFrom(
    'completes',
    'completes',
    'throws',
    'returns an error',
    'fails to prepare',
    'is denied',
    'is stale',
  ),
});

/** Which calls run at a moment, by the rules of SCH-3 and SCH-4 alone. */
class Model {
  readonly #plans: readonly Plan[];
  readonly #ended = new Set<number>();

  constructor(plans: readonly Plan[]) {
    this.#plans = plans;
    for (const [index, { fate }] of plans.entries()) {
      if (fate === 'fails to prepare' || fate === 'is denied') this.#ended.add(index);
    }
  }

  running(): readonly number[] {
    const waiting = [...this.#plans.keys()].filter((index) => !this.#ended.has(index));
    const parallel = waiting.filter((index) => this.#plans[index]!.concurrency === 'parallel');
    if (parallel.length === 0) return waiting.slice(0, 1);
    return parallel.filter((index) => this.#isFirstOfItsKey(index, parallel));
  }

  end(index: number): void {
    this.#ended.add(index);
  }

  #isFirstOfItsKey(index: number, parallel: readonly number[]): boolean {
    const { key } = this.#plans[index]!;
    return key === null || parallel.find((other) => this.#plans[other]!.key === key) === index;
  }
}

const OUTCOMES: Readonly<Record<Plan['fate'], CallOutcome>> = {
  completes: 'completed',
  throws: 'failed',
  'returns an error': 'failed',
  'fails to prepare': 'failed',
  'is denied': 'failed',
  'is stale': 'failed',
};

/** A turn of the planned calls; the test ends the ones that run. `stale` calls run as far as their revalidation. */
function plannedTurn(plans: readonly Plan[]) {
  const running = new Map<number, Deferred<void>>();
  const settle = async (index: number): Promise<ToolCompletion> => {
    const { fate } = plans[index]!;
    const end = deferred();
    running.set(index, end);
    await end.promise;
    running.delete(index);
    if (fate === 'is stale') throw toolError('stale', 'it changed');
    if (fate === 'throws') throw new Error('boom');
    const completion = said(`ran ${index}`);
    return fate === 'returns an error'
      ? { ...completion, error: { code: 'signal', message: 'x' } }
      : completion;
  };
  const tools = plans.map(({ concurrency, key, fate }, index) =>
    fakeTool({
      name: `t${index}`,
      concurrency,
      action: fate === 'is denied' ? 'webfetch' : 'read',
      ...(key === null ? {} : { key }),
      ...(fate === 'is stale' ? { revalidate: async () => void (await settle(index)) } : {}),
      execute: () => settle(index),
      onPrepare: () => {
        if (fate === 'fails to prepare') throw toolError('not_found', 'nothing there');
      },
    }),
  );
  return { running, fixture: turnFixture(tools) };
}

describe('the calls of a turn', () => {
  it('run as the rules say, and each ends once [SCH-3] [SCH-4] [SCH-7] [SCH-8] [SCH-10]', async () => {
    const picks = fc.infiniteStream(fc.nat());
    const cancelAfter = fc.option(fc.nat({ max: 8 }), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { maxLength: 9 }),
        picks,
        cancelAfter,
        async (plans, picks, cancelAfter) => {
          const { running, fixture } = plannedTurn(plans);
          const model = new Model(plans);
          const outcome = fixture.run(plans.map((_, index) => callOf(`t${index}`)));
          const completed: number[] = [];
          await flush();
          for (let step = 0; running.size > 0 && step !== cancelAfter; step++) {
            expect(new Set(running.keys())).toEqual(new Set(model.running()));
            const [index, end] = [...running][picks.next().value % running.size]!;
            end.resolve();
            await flush();
            model.end(index);
            completed.push(index);
          }
          const cut = new Set(running.keys());
          fixture.cancel.abort();
          await flush();
          fixture.clock.advance(3000);
          const { reports } = await outcome;
          const ended = new Set(completed);
          expect(cut).toEqual(new Set(running.keys()));

          expect(reports.map(({ outcome }) => outcome)).toEqual(
            plans.map(({ fate }, index) =>
              ended.has(index) || fate === 'fails to prepare' || fate === 'is denied'
                ? OUTCOMES[fate]
                : 'cancelled',
            ),
          );
          const terminals = fixture.log.of('tool_call_terminated').map((event) => event.tool_call_id);
          expect(terminals.toSorted()).toEqual(reports.map((report) => report.tool_call_id).toSorted());
          expect(new Set(terminals).size).toBe(plans.length);
          expect(fixture.log.of('tool_call_started').map((event) => event.tool_call_id)).toEqual(
            reports.map((report) => report.tool_call_id),
          );
          const order = terminals.map((id) => reports.findIndex((report) => report.tool_call_id === id));
          expect(order.filter((index) => ended.has(index))).toEqual(completed);
          expect([fixture.log.isSynced(), fixture.store.unreleased(), fixture.clock.pending()]).toEqual([
            true,
            0,
            0,
          ]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
