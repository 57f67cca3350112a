import type { ReactNode } from 'react';
import styles from './code.module.css';

interface CodeProps {
  title: ReactNode;
  note?: string;
  children: ReactNode;
}

/** Code or an answer as it came, under a line that says what it is. */
export function Code({ title, note, children }: CodeProps) {
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.title}>
        <span>{title}</span> {note && <span>{note}</span>}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        <code>{children}</code>
      </pre>
    </figure>
  );
}
