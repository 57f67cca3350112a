/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Returns the median with its 95 % interval, by the ranks of the values. Fewer than six values are too few for it:
 * then `low` and `high` are the lowest and the highest.
 *
 * @param {number[]} values
 */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = outerRank(sorted.length);
  return {
    median: median(sorted),
    low: sorted[rank],
    high: sorted[sorted.length - 1 - rank],
    is95: sorted.length >= 6,
  };
}

/** How many values can be left out on each side, so that the median is between the others in 95 of 100 cases. */
function outerRank(count) {
  let outside = 0;
  let term = 0.5 ** count; // the chance that exactly `rank` values are below the median
  for (let rank = 0; rank < count / 2; rank += 1) {
    outside += 2 * term;
    if (outside > 0.05) return Math.max(0, rank - 1);
    term *= (count - rank) / (rank + 1);
  }
  return 0;
}
