import { type ReactNode, useId } from 'react';
import styles from './panel.module.css';

interface PanelProps {
  readonly title: string;
  /** Content next to the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A section of a page with a title. */
export function Panel({ title, aside, children }: PanelProps) {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export type Pair = readonly [name: string, value: ReactNode];

/** A list of names and values, without empty ones. Both are rendered as text because strangers can choose them. */
export function Pairs({ of: pairs }: { readonly of: readonly Pair[] }) {
  return (
    <dl className={styles.pairs}>
      {pairs.map(([name, value], index) =>
        value ? (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
