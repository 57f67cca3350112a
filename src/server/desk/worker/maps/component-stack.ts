import type { StackFrame } from '../../../engine/errors/failure.ts';

/** The most components that are read. Those further out belong to Spillway. */
const MAX_COMPONENTS = 60;

/**
 * Parses React's component stack, innermost first. V8 writes `at Cart (https://…/cart.js:1:200)`, or `at main`
 * for an element. Other JavaScript engines write `Cart@https://…/cart.js:1:200`.
 */
export function parseComponentStack(stack: string): StackFrame[] {
  return stack
    .split('\n')
    .flatMap((line) => toComponent(line) ?? [])
    .slice(0, MAX_COMPONENTS);
}

function toComponent(line: string): StackFrame | undefined {
  const [, name, place = ''] = /^\s*at (\S+)(?: \((.*)\))?\s*$/.exec(line) ?? /^\s*([^\s@]+)@(.*)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const [, location = '', row = '0', column = '0'] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
  const file = toFile(location);
  return { file, line: file === '' ? 0 : Number(row), column: file === '' ? 0 : Number(column), function: name };
}

/**
 * Returns the path of a script in the build. It is read from the end of the location, because scrubbing has
 * removed the folder. Empty for other scripts.
 */
function toFile(location: string): string {
  const asset = /^https?:\/\/[^/?#]+(\/(?:assets|_dev\/modules)\/[^?#]+)/.exec(location)?.[1];
  return asset ? `client${asset}` : (/\/dist(?:-dev)?\/((?:client|server)\/[^?#]+)$/.exec(location)?.[1] ?? '');
}
