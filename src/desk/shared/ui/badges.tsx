import { KIND_WORDS, SIDES } from '../choices.ts';
import type { FullShape, IncidentKind, SideCounts, StatusShape } from '../shapes.ts';
import { toCount, toStateWord } from '../words.ts';
import styles from './badges.module.css';

export function KindBadge({
  kind,
  level,
}: {
  readonly kind: IncidentKind;
  readonly level?: FullShape['level'] | undefined;
}) {
  const word = level === 'warning' ? 'Warning' : KIND_WORDS[kind];
  return <span className={`${styles.badge} ${styles.kind}`}>{word}</span>;
}

/** The state, and when it ends. */
export function StateBadge({ status }: { readonly status: StatusShape }) {
  const word = toStateWord(status);
  return <span className={`${styles.badge} ${styles[word.toLowerCase()]}`}>{word}</span>;
}

/** Counts per side. */
export function Sides({ counts }: { readonly counts: SideCounts }) {
  const sides = SIDES.filter((side) => counts[side] > 0);
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
