// Vitest ends a process of tests by SIGTERM, at which Node would end without an exit of its own.
process.once('SIGTERM', () => process.exit(143));

const acts: (() => void)[] = [];
process.once('exit', () => {
  for (const act of acts) act();
});

/** Does something, at once, when this process ends. For what the tests of several files share. */
export function atEnd(act: () => void): void {
  acts.push(act);
}
