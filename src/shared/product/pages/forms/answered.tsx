import { useState } from 'react';
import type { ActionOutcome } from '#engine';
import styles from './forms.module.css';

/** How a form was answered this time: an outcome that was there from the start came with the document. */
export function Answered({ outcome }: { outcome: ActionOutcome | undefined }) {
  const [loaded] = useState(outcome);
  if (!outcome) return null;
  return (
    <p className={styles.answered}>
      Status {outcome.status},{' '}
      {outcome === loaded ? (
        <>
          answered with <strong>a document</strong>: the browser loaded this page anew, as it does without JavaScript.
        </>
      ) : (
        <>
          answered <strong>in the background</strong>: data alone was sent, and this document stayed.
        </>
      )}
    </p>
  );
}
