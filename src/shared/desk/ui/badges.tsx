import { toCount, toExactTime, toPlural } from '../../words.ts';
import type { IncidentKind, SideCounts, StatusShape, WholeShape } from '../shapes.ts';
import { KIND_WORDS, STATE_WORDS } from '../words.ts';
import styles from './badges.module.css';

export function KindBadge({
  kind,
  level,
}: {
  readonly kind: IncidentKind;
  readonly level?: WholeShape['level'] | undefined;
}) {
  const word = level === 'warning' ? 'Warning' : KIND_WORDS[kind];
  return <span className={`${styles.badge} ${styles.kind}`}>{word}</span>;
}

/** The state, and when it ends. */
export function StateBadge({ status }: { readonly status: StatusShape }) {
  const { state, isRegression } = status;
  const word = state === 'open' && isRegression ? 'Regression' : STATE_WORDS[state];
  const look = state === 'open' && isRegression ? 'regression' : state;
  return <span className={`${styles.badge} ${styles[look]}`}>{word}</span>;
}

/** `until 2026-11-22 09:00:00 UTC`; empty if the state has no details. */
export function toStateDetail({ state, isForNext, ignoredUntil, ignoredUntilMore }: StatusShape): string {
  if (state === 'resolved') return isForNext ? 'in the next release' : '';
  if (state === 'ignored' && ignoredUntil !== undefined) return `until ${toExactTime(ignoredUntil)}`;
  if (state === 'ignored' && ignoredUntilMore !== undefined) {
    return `until it happens ${toPlural(ignoredUntilMore, 'more time', 'more times')} within an hour`;
  }
  return state === 'ignored' ? 'forever' : '';
}

/** Counts per side. */
export function Sides({ counts }: { readonly counts: SideCounts }) {
  const sides = (['server', 'browser'] as const).filter((side) => counts[side] > 0);
  return (
    <span className={styles.sides}>
      {sides.map((side) => (
        <span key={side} title={`${toCount(counts[side])} on the ${side}`}>
          {side}
        </span>
      ))}
    </span>
  );
}
