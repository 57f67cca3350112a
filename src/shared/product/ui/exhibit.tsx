import type { ReactNode } from 'react';
import styles from './exhibit.module.css';

interface ExhibitProps {
  /** The code of the demonstration. */
  code: ReactNode;
  children: ReactNode;
}

/** A demonstration and its code, side by side if there is room. */
export function Exhibit({ code, children }: ExhibitProps) {
  return (
    <div className={styles.exhibit}>
      <div className={styles.work}>{children}</div>
      <div className={styles.code}>{code}</div>
    </div>
  );
}
