import { Link } from '#engine';
import { toIncidentHref } from '../../href.ts';
import type { IncidentsData } from '../../page-data.ts';
import type { IncidentRow, LocationShape } from '../../shapes.ts';
import { Ago } from '../../ui/ago.tsx';
import { KindBadge, Sides, StateBadge } from '../../ui/badges.tsx';
import { SmallChart } from '../../ui/chart.tsx';
import { FileLocation } from '../../ui/file-location.tsx';
import { toCount, toPlural, toStateDetail } from '../../words.ts';
import styles from './row.module.css';

interface RowProps {
  readonly of: IncidentRow;
  readonly list: IncidentsData;
}

export function Row({ of: row, list: { now, canChange, view } }: RowProps) {
  const { digest, title, place, status, counts, visitors, chart, firstRelease, lastRelease } = row;
  const times = counts.server + counts.browser;
  // The selected tab shows the state, unless it has details.
  const isStateShown = view.state !== status.state || status.isRegression || toStateDetail(status) !== '';
  return (
    <li className={canChange ? `${styles.row} ${styles.tickable}` : styles.row} data-row="">
      {canChange && (
        <input
          type="checkbox"
          name="digest"
          value={digest}
          className={styles.tick}
          aria-label={`Select ${title || digest}`}
        />
      )}
      <div className={styles.what}>
        <p className={styles.title}>
          <Link to={toIncidentHref(digest, undefined, view.environment)} data-open="">
            {title || `${digest} (only counts were kept)`}
          </Link>
        </p>
        <p className={styles.facts}>
          {isStateShown && (
            <span title={toStateDetail(status) || undefined}>
              <StateBadge status={status} />
            </span>
          )}
          <KindBadge kind={row.kind} />
          <Sides counts={counts} />
          <code>{digest}</code>
          <FailureLocation of={place} />
        </p>
      </div>
      <div className={styles.chart}>
        <SmallChart of={chart} span="14 days" />
        <span className={styles.releases}>{toReleases(firstRelease, lastRelease)}</span>
      </div>
      <p className={styles.count}>
        <strong>{toCount(times)}</strong>
        <span className={styles.unit}>{times === 1 ? ' time' : ' times'}</span>
        {visitors !== undefined && visitors > 0 && (
          <span className={styles.visitors}>{toPlural(visitors, 'visitor')}</span>
        )}
      </p>
      <p className={styles.seen}>
        <span>
          <span className="unseen">last </span>
          <Ago at={row.lastAt} now={now} />
        </span>
        <span className={styles.first}>
          first <Ago at={row.firstAt} now={now} />
        </span>
      </p>
    </li>
  );
}

/** Names the columns. Screen readers get the names with the values. */
export function RowHeads({ canChange }: Pick<IncidentsData, 'canChange'>) {
  return (
    <div className={`${styles.row} ${styles.heads} ${canChange ? styles.tickable : ''}`} aria-hidden="true">
      {canChange && <span className={styles.tick} />}
      <span>Failure</span>
      <span>Last 14 days</span>
      <span className={styles.count}>Times</span>
      <span className={styles.seen}>Seen</span>
    </div>
  );
}

function toReleases(first: string, last: string): string {
  return first === last ? last || 'unknown release' : `${first || '?'} to ${last || '?'}`;
}

function FailureLocation({ of: { route, file, line, function: name } }: { readonly of: LocationShape }) {
  return (
    <>
      {route && <code>{route}</code>}
      {name && <code>{name}</code>}
      {file && <FileLocation file={file} line={line} />}
    </>
  );
}
