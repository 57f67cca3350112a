import type { ReactNode } from 'react';
import { toIsoTime } from '../../../../../shared/words.ts';
import type { BreadcrumbShape, ErrorShape } from '../../../shapes.ts';
import { Panel } from '../../../ui/panel.tsx';
import { toDuration, toExactTime, toPlural } from '../../../words.ts';
import styles from './breadcrumbs.module.css';

interface BreadcrumbsProps {
  readonly of: readonly BreadcrumbShape[];
  readonly failedAt: number;
  readonly errors: readonly ErrorShape[];
}

/** Breadcrumbs that are shown. Earlier ones are folded. */
const SHOWN = 20;

/** Breadcrumbs, oldest first, with the failure at the end. */
export function Breadcrumbs({ of: breadcrumbs, failedAt, errors }: BreadcrumbsProps) {
  if (breadcrumbs.length === 0) return null;
  const earlier = breadcrumbs.slice(0, -SHOWN);
  const [thrown] = errors;
  return (
    <Panel title="What led to it">
      {earlier.length > 0 && (
        <details className={styles.earlier}>
          <summary>{`${toPlural(earlier.length, 'mark')} before`}</summary>
          <Marks of={earlier} failedAt={failedAt} />
        </details>
      )}
      <Marks of={breadcrumbs.slice(-SHOWN)} failedAt={failedAt}>
        <li className={styles.failure}>
          <time dateTime={toIsoTime(failedAt)} title={toExactTime(failedAt)}>
            0
          </time>
          <span className={styles.category}>failure</span>
          <span className={styles.message}>{thrown ? `${thrown.class}: ${thrown.message}` : 'It failed.'}</span>
        </li>
      </Marks>
    </Panel>
  );
}

interface MarksProps {
  readonly of: readonly BreadcrumbShape[];
  readonly failedAt: number;
  readonly children?: ReactNode;
}

function Marks({ of: breadcrumbs, failedAt, children }: MarksProps) {
  return (
    <ol className={styles.marks}>
      {breadcrumbs.map(({ at, category, message, level, data }, index) => (
        <li key={index} className={styles[level]}>
          <time dateTime={toIsoTime(at)} title={toExactTime(at)}>
            {toOffset(at, failedAt)}
          </time>
          <span className={styles.category}>{category}</span>
          <span className={styles.message}>
            {message}
            {data.map(([name, value]) => (
              <span key={name} className="quiet">
                {' '}
                {name} <code>{value}</code>
              </span>
            ))}
          </span>
        </li>
      ))}
      {children}
    </ol>
  );
}

/** Returns `−1.2 s` for a time before the failure. With a wrong browser clock, it can be after it. */
function toOffset(at: number, failedAt: number): string {
  if (at === failedAt) return '0';
  return `${at < failedAt ? '−' : '+'}${toDuration(Math.abs(failedAt - at))}`;
}
