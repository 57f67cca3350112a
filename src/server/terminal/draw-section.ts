import { toClean, toCleanLines } from './clean-text.ts';
import { EMPTY, flow, type Line } from './paint.ts';
import { padToWidth, toWidth } from './text-width.ts';

/** Returns no lines for an empty section. */
export function drawSection(heading: string, lines: readonly Line[]): Line[] {
  return lines.length === 0 ? [] : [EMPTY, flow([['heading', heading]]), ...lines];
}

/** The longest name that widens the column of names (columns). */
const MAX_NAME = 24;

/** Draws names and values in two aligned columns. */
export function drawPairs(pairs: readonly (readonly [name: string, value: string])[]): Line[] {
  const widths = pairs.map(([name]) => toWidth(toClean(name))).filter((width) => width <= MAX_NAME);
  const size = Math.max(...widths, 0);
  return pairs.flatMap(([name, value]) => {
    const label = `${padToWidth(toClean(name), size)}  `;
    const [first = '', ...rest] = toCleanLines(value);
    return [
      flow([['quiet', label], first], size + 2),
      ...rest.map((line) => flow([`${' '.repeat(size + 2)}${line}`], size + 2)),
    ];
  });
}
