import { MAX_VALUE_LENGTH } from '../../shared/limits.ts';

/** React's message of development has the tree below a link to its documentation. */
const TREE = /^https:\/\/react\.dev\/link\/\S+\n+(.*)/ms;
/** So that a line of each side fits (UTF-16 code units). */
const MAX_ROW_LENGTH = 100;

/**
 * Shortens React's message about a mismatch to the lines that differ, and as many of the elements and components around
 * them as fit. Returns any other message as it is.
 */
export function toDifference(said: string): string {
  const lines = TREE.exec(said)?.[1]?.split('\n') ?? [];
  const first = lines.findIndex((line) => /^[+-] /.test(line));
  if (first < 0) return said;
  const end = lines.findIndex((line, index) => index > first && !/^[+-] /.test(line));
  let rows = lines.slice(first, end < 0 ? undefined : end);
  let shown = toRows(rows);
  for (const line of lines.slice(0, first).reverse()) {
    if (toIndent(line) >= toIndent(rows[0] ?? '')) continue; // next to it, not around it
    rows = [line, ...rows];
    const more = toRows(rows);
    if (more.length > MAX_VALUE_LENGTH) break;
    shown = more;
  }
  return shown;
}

/** Removes the common indentation. The first column is the mark of a side. */
function toRows(lines: readonly string[]): string {
  const least = Math.min(...lines.map(toIndent));
  return lines.map((line) => (line.slice(0, 1) + line.slice(least)).slice(0, MAX_ROW_LENGTH)).join('\n');
}

function toIndent(line: string): number {
  return line.replace(/^[+-]/, ' ').search(/\S|$/);
}
