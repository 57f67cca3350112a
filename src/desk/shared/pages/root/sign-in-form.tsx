import { useLocation } from 'react-router';
import { Form, useActionResult } from '../../actions.ts';
import { TICKET_KEY } from '../../ticket.ts';
import styles from './sign-in-form.module.css';

/**
 * The sign-in form of the desk. It replaces the requested page and posts to its URL, so that the operator returns there.
 *
 * @param refusal why signing in is not possible at the moment
 */
export function SignInForm({ refusal }: { refusal?: string | undefined }) {
  const ticket = new URLSearchParams(useLocation().search).get(TICKET_KEY);
  const outcome = useActionResult('root.signIn');
  const wrong = refusal ?? outcome?.errors?.token ?? outcome?.errors?.[''];
  return (
    <main id="main" className={styles.page} tabIndex={-1}>
      <title>Sign in · Desk</title>
      <div className={styles.card}>
        <p className={styles.brand}>Spillway</p>
        <h1>Sign in to the desk</h1>
        {ticket !== null && wrong === undefined ? <ByTicket ticket={ticket} /> : <ByToken wrong={wrong} />}
      </div>
    </main>
  );
}

/** Signing in by a link takes a click on a button: programs that scan links would use up the ticket. */
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
        <p id="token-wrong" className="bad" role="alert">
          {wrong}
        </p>
      )}
      <button type="submit" className="main">
        Sign in
      </button>
      <p id="token-help" className="quiet">
        Use the <code>OPERATOR_TOKEN</code> or <code>VIEWER_TOKEN</code> of the server. Without these settings, the
        token is in the file <code>desk-token</code> in its data folder.
      </p>
    </Form>
  );
}
