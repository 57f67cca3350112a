import type { EngineContext } from '../../engine/pages/server-page.ts';
import type { Access } from '../access/access.ts';
import type { Operator } from '../access/operator-tokens.ts';
import type { Desk } from '../desk.ts';
import type { NotifyFacts } from '../views/present-notify.ts';

/** What every loader, action and guard of the desk gets as `context`. */
export interface DeskContext extends EngineContext {
  readonly access: Access;
  readonly ask: Desk['ask'];
  /** The failures that are not in the store yet, at this moment. */
  readonly arriving: () => Desk['arriving'];
  readonly facts: DeskFacts;
}

/** What the desk says of where it is. */
export interface DeskFacts {
  readonly environment: string;
  readonly release: string;
  /** How a place in the source is opened: `https://github.com/acme/shop/blob/{release}/{file}#L{line}`. */
  readonly sourceLink?: string | undefined;
  /** Who is told; nobody where it is left out. */
  readonly notify?: NotifyFacts;
}

/**
 * Who asks, behind the guard of `root`.
 *
 * @throws Error where no guard has run
 */
export function operatorOf({ access }: DeskContext): Operator {
  if (access.operator) return access.operator;
  throw new Error('operatorOf() was asked for a visitor who is not signed in. Leave the guard of `root` in front.');
}
