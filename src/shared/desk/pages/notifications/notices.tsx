import { Link } from '../../../engine/routing/link.tsx';
import { toIncidentHref } from '../../href.ts';
import type { NoticeShape } from '../../shapes.ts';
import { Ago } from '../../ui/ago.tsx';
import { toPlural } from '../../words.ts';
import styles from './notices.module.css';

interface NoticesProps {
  readonly of: readonly NoticeShape[];
  readonly now: number;
  /** This server's environment. */
  readonly environment: string;
  /** Shown if there are no notifications. */
  readonly empty: string;
}

const STATES = {
  waiting: 'Waiting',
  sent: 'Sent',
  failed: 'Failed',
  summed: 'In a summary',
  dropped: 'Not sent',
} as const satisfies Record<NoticeShape['state'], string>;

export function Notices({ of: notices, now, environment, empty }: NoticesProps) {
  if (notices.length === 0) return <p className={styles.quiet}>{empty}</p>;
  return (
    <ol className={styles.notices}>
      {notices.map((notice) => (
        <li key={notice.id} className={styles.notice}>
          <p className={styles.head}>
            <strong>{notice.label}</strong>
            {notice.digest !== undefined && (
              <Link
                to={toIncidentHref(notice.digest, undefined, toScope(notice, environment))}
                className={notice.title ? styles.title : styles.digest}
              >
                {notice.title || notice.digest}
              </Link>
            )}
            {toScope(notice, environment) !== '' && <span className={styles.quiet}>{notice.environment}</span>}
            <span className={styles[notice.state]}>{STATES[notice.state]}</span>
            <Ago at={notice.at} now={now} />
          </p>
          <p className={styles.quiet}>
            {`${notice.target}. ${notice.outcome}`}
            {notice.tries > 1 && ` ${toPlural(notice.tries, 'try', 'tries')}.`}
            {notice.dueAt !== undefined && <Due at={notice.dueAt} now={now} />}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Returns the environment of an incident for URLs. */
function toScope({ environment = '' }: NoticeShape, own: string): string {
  return environment === own ? '' : environment;
}

function Due({ at, now }: { readonly at: number; readonly now: number }) {
  if (at <= now) return ' Due now.';
  return (
    <>
      {' Next attempt '}
      <Ago at={at} now={now} />.
    </>
  );
}
