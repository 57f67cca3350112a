import type { Reporter } from 'vitest/node';

/**
 * Ends a run with `12 passed, 0 failed`, plain, for whoever reads the last line. What fails outside a
 * test (a file that cannot be loaded, an unhandled rejection) counts as failed.
 */
export function closingLine(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      let passed = 0;
      let failed = unhandledErrors.length;
      for (const module of modules) {
        failed += module.errors().length;
        for (const suite of module.children.allSuites()) failed += suite.errors().length;
        for (const test of module.children.allTests()) {
          const { state } = test.result();
          if (state === 'passed') passed += 1;
          else if (state === 'failed') failed += 1;
        }
      }
      // Behind the default reporter's own summary, whose order is not ours.
      process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
    },
  };
}
