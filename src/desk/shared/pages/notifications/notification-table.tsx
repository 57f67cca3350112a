import { Link } from '../../../../shared/routing/link.tsx';
import { toPlural } from '../../../../shared/words.ts';
import { toIncidentHref } from '../../href.ts';
import type { NotificationShape } from '../../page-data.ts';
import { Ago } from '../../ui/ago.tsx';
import styles from './notification-table.module.css';

interface NotificationTableProps {
  readonly of: readonly NotificationShape[];
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
  dropped: 'Not sent',
} as const satisfies Record<NotificationShape['state'], string>;

export function NotificationTable({ of: notifications, now, environment, empty }: NotificationTableProps) {
  if (notifications.length === 0) return <p className={styles.quiet}>{empty}</p>;
  return (
    <ol className={styles.notifications}>
      {notifications.map((notification) => (
        <li key={notification.id} className={styles.notification}>
          <p className={styles.head}>
            <strong>{notification.label}</strong>
            {notification.digest !== undefined && (
              <Link
                to={toIncidentHref(notification.digest, undefined, toScope(notification, environment))}
                className={notification.title ? styles.title : styles.digest}
              >
                {notification.title || notification.digest}
              </Link>
            )}
            {toScope(notification, environment) !== '' && (
              <span className={styles.quiet}>{notification.environment}</span>
            )}
            <span className={styles[notification.state]}>{STATES[notification.state]}</span>
            <Ago at={notification.at} now={now} />
          </p>
          <p className={styles.quiet}>
            {`${notification.target}. ${notification.outcome}`}
            {notification.tries > 1 && ` ${toPlural(notification.tries, 'try', 'tries')}.`}
            {notification.dueAt !== undefined && <Due at={notification.dueAt} now={now} />}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Returns the environment of an incident for URLs. */
function toScope({ environment = '' }: NotificationShape, own: string): string {
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
