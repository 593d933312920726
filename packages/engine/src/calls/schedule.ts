export interface ScheduleTerms<Call> {
  /** Whether a call may share time with its siblings (SCH-1). */
  readonly overlaps: (call: Call) => boolean;
  /** Contract: resolves when the call has ended, however; rejects only where nothing can go on. */
  readonly run: (call: Call) => Promise<void>;
}

/**
 * Runs the calls of a turn: the parallel ones start together, in call order and without a limit; then the exclusive
 * ones run one by one, in call order (SCH-3). A rejection stops what has not started, and is thrown once nothing runs.
 */
export async function schedule<Call>(
  calls: readonly Call[],
  { overlaps, run }: ScheduleTerms<Call>,
): Promise<void> {
  const results = await Promise.allSettled(calls.filter((call) => overlaps(call)).map((call) => run(call)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  for (const call of calls) if (!overlaps(call)) await run(call);
}
