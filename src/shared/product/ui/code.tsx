import styles from './code.module.css';

interface CodeProps {
  file: string;
  children: string;
}

/** A few lines of source, under the name of the file that they stand in. */
export function Code({ file, children }: CodeProps) {
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.file}>{file}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        <code>{children.trim()}</code>
      </pre>
    </figure>
  );
}
