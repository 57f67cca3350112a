import type { ActionResult } from '#engine';
import styles from './form.module.css';

/** The message for a whole form. Screen readers announce it. */
export function FormError({ result }: { result: ActionResult | undefined }) {
  return (
    <p role="alert" className={styles.error}>
      {result?.errors?.['']}
    </p>
  );
}
