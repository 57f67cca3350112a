import type { Paper } from './paint.ts';

/** Where something is printed: a terminal, a pipe or a file. */
export interface Sheet {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Narrower, a table is none (columns). */
const MIN_WIDTH = 30;

/**
 * Colour at a terminal, and none in a pipe. `NO_COLOR` (no-color.org) and `FORCE_COLOR` say otherwise;
 * where both do, `FORCE_COLOR` counts, as it does for Node.
 */
export function toPaper(sheet: Sheet, env: Environment): Paper {
  return { colour: hasColour(sheet, env), width: toColumns(sheet) };
}

function hasColour({ isTTY }: Sheet, env: Environment): boolean {
  if (env.FORCE_COLOR !== undefined) return !/^(?:0|false)$/.test(env.FORCE_COLOR);
  if (env.NO_COLOR) return false;
  return isTTY === true && env.TERM !== 'dumb';
}

/** What goes into a pipe is searched and cut by others: nothing of it is left out. */
function toColumns({ isTTY, columns = 0 }: Sheet): number {
  if (!isTTY || columns <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(columns, MIN_WIDTH);
}
