import type { LoaderContext, Operator } from '#engine/tracker';
import type { Access } from '../access/access.ts';
import type { DeskFacts } from '../facts.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';

/** The `context` of every loader, action and guard of the desk. */
export interface DeskContext extends LoaderContext {
  readonly access: Access;
  readonly calls: DeskCalls;
  readonly facts: DeskFacts;
}

/** Whether the signed-in user is an operator, not a viewer. */
export function canChange(context: DeskContext): boolean {
  return operatorOf(context).role === 'operator';
}

/**
 * Returns the signed-in operator. Call it only after the guard of `root`.
 *
 * @throws Error if the guard did not run
 */
export function operatorOf({ access }: DeskContext): Operator {
  if (access.operator) return access.operator;
  throw new Error('operatorOf() was called for a visitor who is not signed in. Run the guard of `root` first.');
}
