import type { ReactNode } from 'react';
import styles from './exhibit.module.css';

interface ExhibitProps {
  /** The lines that do it. */
  code: ReactNode;
  children: ReactNode;
}

/** One thing at work, and the lines that do it: beside it where there is room, else under it. */
export function Exhibit({ code, children }: ExhibitProps) {
  return (
    <div className={styles.exhibit}>
      <div className={styles.work}>{children}</div>
      <div className={styles.code}>{code}</div>
    </div>
  );
}
