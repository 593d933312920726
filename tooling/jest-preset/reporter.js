import { writeSync } from 'node:fs';

/** Suites that broke before or outside their tests, and suites that never reported. */
function brokenSuites(results) {
  const broken = results.testResults.filter(
    ({ testExecError, failureMessage, numFailingTests }) =>
      testExecError || (failureMessage && numFailingTests === 0),
  );
  return broken.length + Math.max(0, results.numTotalTestSuites - results.testResults.length);
}

/** Prints `N passed, N failed[, N skipped]` as the very last line of a run. */
export default class ClosingLineReporter {
  #empty = false;

  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + brokenSuites(results);
    const skipped = results.numPendingTests + results.numTodoTests;
    this.#empty = passed + failed + skipped === 0;
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
    // Jest's own summary comes after the reporters; only the exit is later.
    process.once('exit', () => writeSync(1, line));
  }

  getLastError() {
    return this.#empty ? new Error('no test ran') : undefined;
  }
}
