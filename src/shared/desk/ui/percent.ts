/** Formats a fraction (0 to 1) as a percentage for SVG and CSS. */
export function toPercent(part: number): string {
  return `${round(part * 100)}%`;
}

/** Rounds to two digits: more are not visible. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
