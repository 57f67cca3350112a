import { type ReactNode, type SubmitEvent, startTransition, useActionState } from 'react';
import { FEEDBACK_FIELDS, FEEDBACK_KEY, FEEDBACK_TRAP, MAX_FEEDBACK_LENGTH } from '../reporting/feedback-protocol.ts';
import type { FailureHelpProps } from './engine-context.ts';

/** The content of `FailureHelp`. The export is the default because React's `lazy()` needs one. */
export default function FailureHelpView({ error: { digest = '', url }, form = true }: FailureHelpProps): ReactNode {
  return (
    <>
      {url && (
        <p className="error-link">
          <a href={url}>Open this failure</a>
        </p>
      )}
      {form && <FeedbackForm key={digest} address={digest} />}
    </>
  );
}

const UNSENT = 'Your message was not sent. It is still here. Check your connection, then send it again.';

interface Answer {
  readonly words: string;
  readonly isTaken: boolean;
}

const UNANSWERED: Answer = { words: '', isTaken: false };

function FeedbackForm({ address }: { readonly address: string }): ReactNode {
  const [{ words, isTaken }, send, isSending] = useActionState(
    (_last: Answer, form: HTMLFormElement) => post(form).catch((): Answer => ({ words: UNSENT, isTaken: false })),
    UNANSWERED,
  );

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    if (!isSending) startTransition(() => send(form));
  }

  return (
    <>
      {!isTaken && (
        <form
          className="error-feedback"
          method="post"
          action={`?${FEEDBACK_KEY}`}
          aria-label="What were you doing?"
          onSubmit={submit}
        >
          <input type="hidden" name={FEEDBACK_FIELDS.address} value={address} />
          <label>
            What were you doing?
            <textarea name={FEEDBACK_FIELDS.text} rows={3} required maxLength={MAX_FEEDBACK_LENGTH} />
          </label>
          <label>
            Your email (optional, so that we can follow up)
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

async function post(form: HTMLFormElement): Promise<Answer> {
  const fields = [...new FormData(form)].filter((field): field is [string, string] => typeof field[1] === 'string');
  const answer = await fetch(form.action, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams(fields),
  });
  const { words } = (await answer.json()) as { words: unknown };
  return { words: String(words), isTaken: answer.ok };
}
