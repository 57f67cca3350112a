import { toDuration, toExactTime, toMebibytes } from '../../words.ts';
import type { GrowthShape } from '../shapes.ts';
import chartStyles from './chart.module.css';
import styles from './growth-chart.module.css';
import { round, toPercent } from './percent.ts';

/** Height of the chart (px). */
const HEIGHT = 72;

/** Resident memory and heap over the life of a process. */
export function GrowthChart({ of: growth }: { readonly of: GrowthShape }) {
  const { at, step, memory, heap } = growth;
  const most = Math.max(1, ...memory);
  return (
    <figure className={`${chartStyles.chart} ${styles.growth}`}>
      <svg width="100%" height={HEIGHT + 1} role="img" aria-label={toLabel(growth)}>
        {memory.map((bytes, index) => {
          const x = toPercent(index / memory.length);
          const width = toPercent(0.8 / memory.length);
          const used = Math.min(bytes, heap[index] ?? 0);
          return (
            <g key={index}>
              <title>{`${toExactTime(at + index * step)}: ${toMebibytes(bytes)}, heap: ${toMebibytes(used)}`}</title>
              <rect className={styles.memory} x={x} width={width} {...toSpan(bytes / most)} />
              <rect className={styles.heap} x={x} width={width} {...toSpan(used / most)} />
            </g>
          );
        })}
        <line className={chartStyles.ground} x1="0" x2="100%" y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
      </svg>
      <figcaption className={chartStyles.caption}>
        <span>{toExactTime(at).slice(5, 19)}</span>
        <span>
          <span className={styles.memoryName}>memory</span>, at most {toMebibytes(most)}, of it{' '}
          <span className={styles.heapName}>heap</span>; a bar is {toDuration(step)}
        </span>
        <span>end</span>
      </figcaption>
    </figure>
  );
}

function toSpan(part: number): { y: number; height: number } {
  const height = round(part * HEIGHT);
  return { y: round(HEIGHT - height), height };
}

function toLabel({ from, to, ms }: GrowthShape): string {
  return `Memory from ${toMebibytes(from.memory)} to ${toMebibytes(to.memory)} in ${toDuration(ms)}.`;
}
