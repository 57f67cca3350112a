import type { PageProps } from '../../../../shared/routing/routes.ts';
import { Form, useActionResult } from '../../actions.ts';
import type { NotificationsData } from '../../page-data.ts';
import { Pairs, Panel } from '../../ui/panel.tsx';
import { PassingTime } from '../../ui/passing-time.tsx';
import { NotificationTable } from './notification-table.tsx';
import styles from './notifications.module.css';

/** Notification settings, and the waiting and sent notifications. */
export default function Notifications({ data }: PageProps<NotificationsData>) {
  const { targets, waiting, done } = data;
  return (
    <PassingTime since={data.now}>
      <div className={styles.page}>
        <title>Notifications · Desk</title>
        <h1>Notifications</h1>
        <Panel title="Settings">
          {targets.length === 0 ? <Unset /> : <Targets of={data} />}
          <Pairs of={data.settings} />
        </Panel>
        {(targets.length > 0 || waiting.length > 0) && (
          <Panel title="Waiting">
            <NotificationTable
              of={waiting}
              now={data.now}
              environment={data.environment}
              empty="No notifications are waiting."
            />
          </Panel>
        )}
        {(targets.length > 0 || done.length > 0) && (
          <Panel title="History">
            <NotificationTable
              of={done}
              now={data.now}
              environment={data.environment}
              empty="No notifications yet. You are notified of new incidents and regressions."
            />
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

function Targets({ of: { targets, operator } }: { readonly of: NotificationsData }) {
  return (
    <div className={styles.targets}>
      <ul className={styles.list}>
        {targets.map((target) => (
          <li key={target}>{target}</li>
        ))}
      </ul>
      {operator.canChange && (
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
