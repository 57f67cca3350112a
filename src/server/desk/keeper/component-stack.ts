import { toFrameFile } from '../../engine/errors/digest/frame-file.ts';
import type { StackFrame } from '../../engine/errors/failure.ts';

/** Components that are read (a count): those further out are the engine's. */
const MAX_COMPONENTS = 60;

/**
 * Reads React's component stack, innermost first. V8 writes `at Cart (https://…/cart.js:1:200)`, or
 * `at main` for an element; the others write `Cart@https://…/cart.js:1:200`.
 *
 * @param dist the folder of the build that runs, as an absolute path
 */
export function parseComponentStack(stack: string, { dist }: { dist: string }): StackFrame[] {
  return stack
    .split('\n')
    .flatMap((line) => toComponent(line, dist) ?? [])
    .slice(0, MAX_COMPONENTS);
}

function toComponent(line: string, dist: string): StackFrame | undefined {
  const [, name, place = ''] = /^\s*at (\S+)(?: \((.*)\))?\s*$/.exec(line) ?? /^\s*([^\s@]+)@?(.*)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const [, location = place, row = '0', column = '0'] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
  return { file: toFrameFile(location, { dist }), line: Number(row), column: Number(column), function: name };
}
