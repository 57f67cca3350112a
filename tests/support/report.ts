import type { Reporter } from 'vitest/node';

/**
 * Ends a run with the line `12 passed, 0 failed`, in plain text for programs that read it. Failures outside a test (a file
 * that cannot be loaded, an unhandled rejection) count as failed.
 */
export function report(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      const count = (state: string) => tests.filter((test) => test.result().state === state).length;
      const outside = modules.flatMap((module) => [
        ...module.errors(),
        ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
      ]);
      const failed = count('failed') + outside.length + unhandledErrors.length;
      // After the default reporter's own summary, which also waits for the end of the run.
      process.once('exit', (code) => {
        process.stdout.write(`${count('passed')} passed, ${failed || Math.sign(code)} failed\n`);
      });
    },
  };
}
