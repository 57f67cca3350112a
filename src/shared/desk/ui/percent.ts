/** A part from 0 to 1, as SVG and CSS write it. */
export function toPercent(part: number): string {
  return `${round(part * 100)}%`;
}

/** No more digits than can be seen. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
