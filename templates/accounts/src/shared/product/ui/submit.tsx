import type { ReactNode } from 'react';
import styles from './form.module.css';

/** The main button of a form. */
export function Submit({ children }: { children: ReactNode }) {
  return (
    <button type="submit" className={styles.primary}>
      {children}
    </button>
  );
}
