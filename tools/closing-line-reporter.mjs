/** Ends a run with one plain line for machines: `N passed, N failed`. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    // A suite that cannot even be loaded has no tests to count, yet it is a failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const line = `${results.numPassedTests} passed, ${failed} failed\n`;
    // On exit, because the global teardown comes after the reporters and may have something to say.
    process.once('exit', () => process.stdout.write(line));
  }
}
