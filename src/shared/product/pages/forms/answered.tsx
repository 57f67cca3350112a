import { useState } from 'react';
import type { ActionResult } from '#engine';
import styles from './forms.module.css';

/** Shows how the form was answered. A result in the first render arrived with the document. */
export function Answered({ result }: { result: ActionResult | undefined }) {
  const [loaded] = useState(result);
  if (!result) return null;
  return (
    <p className={styles.answered}>
      Status {result.status},{' '}
      {result === loaded ? (
        <>
          answered with <strong>a document</strong>. The browser loaded this page again, as it does without JavaScript.
        </>
      ) : (
        <>
          answered <strong>in the background</strong>. Only data was sent, and the document stayed.
        </>
      )}
    </p>
  );
}
