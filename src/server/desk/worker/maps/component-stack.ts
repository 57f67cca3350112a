import type { StackFrame } from '../../../engine/errors/failure.ts';

/** Components that are read (a count): those further out are the engine's. */
const MAX_COMPONENTS = 60;

/**
 * Reads React's component stack, innermost first. V8 writes `at Cart (https://…/cart.js:1:200)`, or
 * `at main` for an element; the others write `Cart@https://…/cart.js:1:200`.
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

/** Where the build lies is scrubbed by now, so that it is told by the end of the path; a foreign script's is left out. */
function toFile(location: string): string {
  const asset = /^https?:\/\/[^/?#]+(\/assets\/[^?#]+)$/.exec(location)?.[1];
  return asset ? `client${asset}` : (/\/dist\/((?:client|server)\/[^?#]+)$/.exec(location)?.[1] ?? '');
}
