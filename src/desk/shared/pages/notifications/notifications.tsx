import { Link, type PageProps } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { toIncidentHref } from '../../href.ts';
import type { NotificationShape, NotificationsData } from '../../page-data.ts';
import { Ago, PassingTime } from '../../ui/ago.tsx';
import { Panel } from '../../ui/panel.tsx';
import { toPlural } from '../../words.ts';
import styles from './notifications.module.css';

/** The targets of notifications, and the last attempts. */
export default function Notifications({ data }: PageProps<NotificationsData>) {
  const { targets, notifications } = data;
  return (
    <PassingTime since={data.now}>
      <div className={styles.page}>
        <title>Notifications · Desk</title>
        <h1>Notifications</h1>
        <Panel title="Targets">{targets.length === 0 ? <Unset /> : <Targets of={data} />}</Panel>
        {(targets.length > 0 || notifications.length > 0) && (
          <Panel title="History">
            {notifications.length > 0 ? (
              <History of={data} />
            ) : (
              <p className="quiet">No notifications yet. You are notified of new incidents and regressions.</p>
            )}
          </Panel>
        )}
      </div>
    </PassingTime>
  );
}

/** Lists the settings that enable notifications. */
function Unset() {
  return (
    <div className={styles.unset}>
      <p>
        <strong>Notifications are off.</strong> To be notified of new incidents and regressions, set one of these and
        restart:
      </p>
      <ul className={styles.list}>
        <li>
          <code>WEBHOOK_URL</code> for a webhook (also Slack and Discord), and <code>WEBHOOK_SECRET</code> to sign its
          requests;
        </li>
        <li>
          <code>SMTP_URL</code>, <code>MAIL_FROM</code> and <code>MAIL_TO</code> for email.
        </li>
      </ul>
    </div>
  );
}

function Targets({ of: { targets, canChange } }: { readonly of: NotificationsData }) {
  return (
    <div className={styles.targets}>
      <ul className={styles.list}>
        {targets.map((target) => (
          <li key={target}>{target}</li>
        ))}
      </ul>
      {canChange && (
        <Form action="notifications.test" preventScrollReset>
          <button type="submit" className="main">
            Send a test
          </button>
        </Form>
      )}
      <Tested />
    </div>
  );
}

function Tested() {
  const outcome = useActionResult('notifications.test');
  return (
    <div role="status" className={styles.tested}>
      {outcome?.errors?.[''] && <strong className={styles.failed}>{outcome.errors['']}</strong>}
      {outcome?.data && (
        <ul className={styles.list}>
          {outcome.data.results.map(({ target, ok, words }) => (
            <li key={target}>
              <strong className={ok ? styles.sent : styles.failed}>{ok ? 'Sent:' : 'Not sent:'}</strong> {target}.{' '}
              {words}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const STATES = {
  waiting: 'Waiting',
  sent: 'Sent',
  failed: 'Failed',
} as const satisfies Record<NotificationShape['state'], string>;

function History({ of: { notifications, now } }: { readonly of: NotificationsData }) {
  return (
    <ol className={styles.notifications}>
      {notifications.map((notification) => (
        <li key={notification.id} className={styles.notification}>
          <p className={styles.head}>
            <strong>{notification.label}</strong>
            <Link
              to={toIncidentHref(notification.digest, undefined, notification.scope)}
              className={notification.title ? styles.title : styles.digest}
            >
              {notification.title || notification.digest}
            </Link>
            {notification.scope !== '' && <span className="quiet">{notification.scope}</span>}
            <span className={styles[notification.state]}>{STATES[notification.state]}</span>
            <Ago at={notification.triedAt ?? notification.createdAt} now={now} />
          </p>
          <p className="quiet">
            {`${notification.targetName}. ${notification.result}`}
            {notification.attempts > 1 && ` ${toPlural(notification.attempts, 'try', 'tries')}.`}
            {notification.state === 'waiting' && <Due at={notification.dueAt} now={now} />}
          </p>
        </li>
      ))}
    </ol>
  );
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
