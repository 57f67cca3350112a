import { Code } from './code.tsx';
import styles from './excerpt.module.css';

/** What an import of `excerpt:<file>#<name>` gives. */
export interface Source {
  /** From the root of the project. */
  file: string;
  firstLine: number;
  lastLine: number;
  /** Text, and text of a kind that has a colour. */
  spans: (string | [kind: string, text: string])[];
}

/** Lines of a file of this project, as they are. */
export function Excerpt({ of: { file, firstLine, lastLine, spans } }: { of: Source }) {
  const name = file.lastIndexOf('/') + 1;
  const title = (
    <>
      {file.slice(0, name)}
      <wbr />
      {file.slice(name)}
    </>
  );
  return (
    <Code title={title} note={firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`}>
      {spans.map((span, index) =>
        typeof span === 'string' ? (
          span
        ) : (
          <span key={index} className={styles[span[0]]}>
            {span[1]}
          </span>
        ),
      )}
    </Code>
  );
}
