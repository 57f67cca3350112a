import type { Environment } from '../../engine/settings.ts';

export interface Misspelt {
  readonly name: string;
  /** The setting that it resembles. */
  readonly meant: string;
}

/** A misspelled name has at most one wrong letter for every four. */
const LETTERS_PER_MISTAKE = 4;

/** Finds variables that nothing reads, but that resemble a setting that is not set: `TRUST_PROXIES`, `port`. */
export function findMisspelt(env: Environment, known: readonly string[]): Misspelt[] {
  const isSet = (name: string) => Boolean(env[name]?.trim());
  const unset = known.filter((name) => !isSet(name));
  return Object.keys(env)
    .filter((name) => isSet(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = unset.find((setting) => resembles(name.toUpperCase(), setting));
      return meant === undefined ? [] : [{ name, meant }];
    });
}

/**
 * The first letter must match. Mistakes there are rare, and variables of other programs (`REST_PORT`) often differ
 * there.
 */
function resembles(name: string, setting: string): boolean {
  const longer = Math.max(name.length, setting.length);
  return name[0] === setting[0] && toDistance(name, setting) <= longer / LETTERS_PER_MISTAKE;
}

/** Counts the letters to insert, delete or replace (Levenshtein distance). */
function toDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, against] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
