// Vitest ends a process of tests by SIGTERM, at which Node would end without an exit of its own.
process.once('SIGTERM', () => process.exit(143));

/** Does something, at once, when this process ends. For what the tests of several files share. */
export function atEnd(act: () => void): void {
  process.once('exit', act);
}
