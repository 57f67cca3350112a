import styles from './code.module.css';
import { Code } from './code.tsx';

/** Plain text, or text with a syntax class. */
type Span = string | [kind: string, text: string];

/** The default export of `excerpt:<file>#<name>`. */
export interface Source {
  /** Relative to the project's root. */
  file: string;
  firstLine: number;
  lastLine: number;
  spans: Span[];
}

interface ExcerptProps {
  of: Source;
  /** Shows only the title until it is opened, for long code beside a short demonstration. */
  folded?: boolean;
}

/** Shows lines of a source file of this project. */
export function Excerpt({ of: { file, firstLine, lastLine, spans }, folded }: ExcerptProps) {
  const name = file.lastIndexOf('/') + 1;
  const title = (
    <>
      {file.slice(0, name)}
      <wbr />
      {file.slice(name)}
    </>
  );
  return (
    <Code
      title={title}
      note={firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`}
      folded={folded}
    >
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
