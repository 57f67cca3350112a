import { StartError } from '../start-error.ts';

/** Thrown at start if parts of the product do not fit together. The message says what to correct, and where. */
export class WiringError extends StartError {}

export const PRODUCT_FILE = 'src/server/product/index.ts';

/**
 * Checks a list that a function of the product returned. If a module does not export a name, the member is undefined.
 *
 * @throws WiringError if it is not a list, or if a member does not fit
 */
export function requireMembers(name: 'api' | 'steps', list: unknown, fits: (member: unknown) => boolean): void {
  const members = Array.isArray(list) ? list : [list];
  const wrong = members.findIndex((member) => !fits(member));
  if (Array.isArray(list) && wrong < 0) return;
  const what = Array.isArray(list) ? `a list whose member ${wrong + 1} is ${describe(members[wrong])}` : describe(list);
  const expected = name === 'api' ? 'results of implement() and Express handlers' : 'Express handlers';
  throw new WiringError(`\`${name}\` in ${PRODUCT_FILE} returns ${what}. Return a list of ${expected}.`);
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  return value === undefined || value === null ? String(value) : `a value of type ${typeof value}`;
}
