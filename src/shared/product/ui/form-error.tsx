import type { ActionResult } from '#engine';
import styles from './field.module.css';

/** The message for a whole form, such as that it is too large or was not sent. */
export function FormError({ result }: { result: ActionResult | undefined }) {
  return (
    <p role="alert" className={styles.whole}>
      {result?.errors?.['']}
    </p>
  );
}
