import { useLocation } from 'react-router';
import { Form, useActionResult } from '../../actions.ts';
import { TICKET_KEY } from '../../ticket.ts';
import styles from './sign-in.module.css';

/**
 * The way into the desk, in the place of whichever page was asked for: its form is posted to that
 * page's address, and leads back there.
 *
 * @param refusal why no try is taken at the moment
 */
export function SignIn({ refusal }: { refusal?: string | undefined }) {
  const ticket = new URLSearchParams(useLocation().search).get(TICKET_KEY);
  const outcome = useActionResult('root.signIn');
  const wrong = refusal ?? outcome?.errors?.token ?? outcome?.errors?.[''];
  return (
    <main id="main" className={styles.page} tabIndex={-1}>
      <title>Sign in · Desk</title>
      <div className={styles.card}>
        <h1>Sign in to the desk</h1>
        {ticket !== null && wrong === undefined ? <ByTicket ticket={ticket} /> : <ByToken wrong={wrong} />}
      </div>
    </main>
  );
}

/** A link alone signs nobody in: programs that look at links before people do would use it up. */
function ByTicket({ ticket }: { ticket: string }) {
  return (
    <Form action="root.signIn" className={styles.form}>
      <p>This link signs you in. It works once and expires after 15 minutes.</p>
      <input type="hidden" name={TICKET_KEY} value={ticket} />
      <button type="submit" className="main">
        Sign in
      </button>
    </Form>
  );
}

function ByToken({ wrong }: { wrong: string | undefined }) {
  return (
    <Form action="root.signIn" className={styles.form}>
      <label htmlFor="token">Token</label>
      <input
        id="token"
        type="password"
        name="token"
        required
        autoComplete="current-password"
        aria-invalid={wrong === undefined ? undefined : true}
        aria-describedby={wrong === undefined ? 'token-help' : 'token-wrong token-help'}
      />
      {wrong !== undefined && (
        <p id="token-wrong" className={styles.wrong} role="alert">
          {wrong}
        </p>
      )}
      <button type="submit" className="main">
        Sign in
      </button>
      <p id="token-help" className={styles.help}>
        Use the <code>OPERATOR_TOKEN</code> or <code>VIEWER_TOKEN</code> of the server. Without these settings, the
        token is in the file <code>desk-token</code> in its data folder.
      </p>
    </Form>
  );
}
