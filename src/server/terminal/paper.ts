import type { Paper } from './paint.ts';

/** The output: a terminal, a pipe or a file. */
export interface Sheet {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The narrowest width that a table is drawn for (columns). */
const MIN_WIDTH = 30;

/**
 * Colours the output of a terminal, but not of a pipe. `NO_COLOR` (no-color.org) and `FORCE_COLOR` override this. If
 * both are set, `FORCE_COLOR` wins, as in Node.
 */
export function toPaper(sheet: Sheet, env: Environment): Paper {
  return { colour: hasColour(sheet, env), width: toColumns(sheet) };
}

function hasColour({ isTTY }: Sheet, env: Environment): boolean {
  if (env.FORCE_COLOR !== undefined) return !/^(?:0|false)$/.test(env.FORCE_COLOR);
  if (env.NO_COLOR) return false;
  return isTTY === true && env.TERM !== 'dumb';
}

/** Sets no limit for a pipe, because other programs search and cut its text. */
function toColumns({ isTTY, columns = 0 }: Sheet): number {
  if (!isTTY || columns <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(columns, MIN_WIDTH);
}
