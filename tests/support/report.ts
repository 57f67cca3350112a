import type { Reporter, TestModule } from 'vitest/node';
import { Second } from '../../src/shared/units.ts';

/** How many files the report lists. */
const SLOWEST = 10;

/**
 * Ends a run with a report of test times: each project's share, and the slowest files. The last line is
 * `12 passed, 0 failed`, in plain text for programs that read it. Failures outside a test (a file that cannot be
 * loaded, an unhandled rejection) count as failed.
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
      const lines = [...describeTime(modules), `${count('passed')} passed, ${failed} failed`];
      // After the default reporter's own summary, which also waits for the end of the run.
      process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
    },
  };
}

function describeTime(modules: readonly TestModule[]): string[] {
  if (modules.length <= SLOWEST) return [];
  const total = sum(modules);
  const layers = Map.groupBy(modules, ({ project }) => project.name);
  const slowest = modules.toSorted((one, other) => timeOf(other) - timeOf(one)).slice(0, SLOWEST);
  return [
    'Time in test files, which run in parallel:',
    ...[...layers].map(
      ([name, files]) =>
        `  ${toSeconds(sum(files))}  ${name}, ${files.length} files, ${Math.round((100 * sum(files)) / total)} %`,
    ),
    'The slowest files:',
    ...slowest.map((file) => `  ${toSeconds(timeOf(file))}  ${file.relativeModuleId}`),
  ];
}

/** In milliseconds. */
function timeOf(module: TestModule): number {
  const { collectDuration, setupDuration, prepareDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + prepareDuration + duration;
}

function sum(modules: readonly TestModule[]): number {
  return modules.reduce((milliseconds, module) => milliseconds + timeOf(module), 0);
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / Second).toFixed(1).padStart(6)} s`;
}
