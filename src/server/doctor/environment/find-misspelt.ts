import type { Environment } from '../../engine/settings.ts';

export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

/** One wrong letter in so many is a slip; more are another name. */
const LETTERS_A_SLIP = 4;

/**
 * Variables that nobody reads and that look like a setting that is not set: `TRUST_PROXIES`,
 * `PUBLIC_ORIGIN`, `port`.
 */
export function findMisspelt(env: Environment, known: readonly string[]): Misspelt[] {
  const isKnown = new Set(known);
  const open = known.filter((name) => !env[name]?.trim());
  return Object.keys(env)
    .filter((name) => !isKnown.has(name) && env[name]?.trim())
    .flatMap((name) => {
      const meant = open.find((setting) => isLike(name.toUpperCase(), setting));
      return meant === undefined ? [] : [{ name, meant }];
    });
}

/** Slips are seldom in the first letter, and names of others (`REST_PORT`) often differ there. */
function isLike(name: string, setting: string): boolean {
  const longer = Math.max(name.length, setting.length);
  return name[0] === setting[0] && countSlips(name, setting) <= Math.floor(longer / LETTERS_A_SLIP);
}

/** Letters to be put in, taken out or exchanged (Levenshtein's distance). */
function countSlips(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, against] of [...other].entries()) {
      const exchanged = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
