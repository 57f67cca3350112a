import { Form } from '../../actions.ts';
import type { FeedbackShape } from '../../shapes.ts';
import { Ago } from '../../ui/ago.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './feedback.module.css';

interface FeedbackProps {
  readonly of: readonly FeedbackShape[];
  readonly now: number;
  readonly canRemove: boolean;
  readonly version: string;
}

export function Feedback({ of: feedback, now, canRemove, version }: FeedbackProps) {
  return (
    <Panel title="Feedback from visitors">
      <ul className={styles.list}>
        {feedback.map(({ id, at, text, name, email, url }) => (
          <li key={id}>
            <blockquote className={styles.text}>{text}</blockquote>
            <p className={styles.who}>
              {[name, email].filter(Boolean).join(', ') || 'A visitor'}, <Ago at={at} now={now} />
              {url && (
                <>
                  , on <code>{url}</code>
                </>
              )}
            </p>
            {canRemove && (
              <Form action="incident.removeFeedback" preventScrollReset>
                <input type="hidden" name="version" value={version} />
                <input type="hidden" name="id" value={id} />
                <button type="submit" aria-label={`Delete the feedback of ${name || 'a visitor'}`}>
                  Delete
                </button>
              </Form>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
