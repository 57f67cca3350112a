/** @param {number[]} values @param {number} share between 0 and 1 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => quantile(values, 0.5);

/** Returns the median, and the range of the middle half of the values. */
export const summarize = (values) => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});
