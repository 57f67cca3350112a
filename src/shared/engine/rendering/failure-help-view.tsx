import { type ReactNode, type SubmitEvent, useState } from 'react';
import { FEEDBACK_FIELDS, FEEDBACK_KEY, FEEDBACK_TRAP, MAX_FEEDBACK_LENGTH } from '../reporting/feedback-protocol.ts';
import type { FailureHelpProps } from './failure-help.tsx';

/** What `FailureHelp` shows. By default, because `lazy()` of React asks for it so. */
export default function FailureHelpView({ error: { digest = '', desk }, form = true }: FailureHelpProps): ReactNode {
  return (
    <>
      {desk && (
        <p className="error-desk">
          <a href={`/desk/${digest.replace('-', '/')}`}>Open this failure in the desk</a>
        </p>
      )}
      {form && <FeedbackForm key={digest} address={digest} />}
    </>
  );
}

const UNSENT = 'It could not be sent. What you wrote is still here: check the connection, and send it again.';

function FeedbackForm({ address }: { readonly address: string }): ReactNode {
  const [words, setWords] = useState('');
  const [isTaken, setTaken] = useState(false);
  const [isSending, setSending] = useState(false);

  async function send(event: SubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    const answer = await post(event.currentTarget).catch(() => ({ words: UNSENT, isTaken: false }));
    setSending(false);
    setWords(answer.words);
    setTaken(answer.isTaken);
  }

  return (
    <>
      {!isTaken && (
        <form
          className="error-feedback"
          method="post"
          action={`?${FEEDBACK_KEY}`}
          aria-label="What were you doing?"
          onSubmit={(event) => void send(event)}
        >
          <input type="hidden" name={FEEDBACK_FIELDS.address} value={address} />
          <label>
            What were you doing?
            <textarea name={FEEDBACK_FIELDS.text} rows={3} required maxLength={MAX_FEEDBACK_LENGTH} />
          </label>
          <label>
            Your e-mail address, if we may ask back
            <input type="email" name={FEEDBACK_FIELDS.email} maxLength={254} autoComplete="email" />
          </label>
          <label hidden>
            Leave this empty
            <input name={FEEDBACK_TRAP} tabIndex={-1} autoComplete="off" />
          </label>
          <button type="submit">Send</button>
        </form>
      )}
      <p role="status">{words}</p>
    </>
  );
}

async function post(form: HTMLFormElement): Promise<{ words: string; isTaken: boolean }> {
  const fields = [...new FormData(form)].filter((field): field is [string, string] => typeof field[1] === 'string');
  const answer = await fetch(form.action, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams(fields),
  });
  const { words } = (await answer.json()) as { words: unknown };
  return { words: String(words), isTaken: answer.ok };
}
