// Vitest ends a test process with SIGTERM. Without this handler, no 'exit' event would be emitted.
process.once('SIGTERM', () => process.exit(143));

const acts: (() => void)[] = [];
process.once('exit', () => {
  for (const act of acts) act();
});

/** Runs a synchronous function when this process exits. For resources shared by several test files. */
export function atEnd(act: () => void): void {
  acts.push(act);
}
