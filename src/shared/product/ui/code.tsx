import type { ReactNode } from 'react';
import styles from './code.module.css';

interface CodeProps {
  title: ReactNode;
  note?: string;
  folded?: boolean | undefined;
  children: ReactNode;
}

/** Code or a response, with a title. */
export function Code({ title, note, folded = false, children }: CodeProps) {
  return (
    <details className={styles.figure} open={!folded}>
      <summary className={styles.title}>
        <span>{title}</span> {note && <span>{note}</span>}
      </summary>
      <pre className={styles.code}>
        <code>{children}</code>
      </pre>
    </details>
  );
}
