import type { ReactNode } from 'react';
import styles from './code.module.css';

interface CodeProps {
  title: ReactNode;
  note?: string;
  children: ReactNode;
}

/** Code or a response, with a title. */
export function Code({ title, note, children }: CodeProps) {
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.title}>
        <span>{title}</span> {note && <span>{note}</span>}
      </figcaption>
      <pre className={styles.code}>
        <code>{children}</code>
      </pre>
    </figure>
  );
}
