import { type CSSProperties, Fragment } from 'react';
import styles from './code-lines.module.css';

/** Plain text, or text with a syntax class. */
export type Span = string | [kind: string, text: string];

/** Lines of code that wrap with extra indentation. */
export function CodeLines({ of: spans }: { of: Span[] }) {
  return toLines(spans).map(({ indent, rest }, index) => (
    <Fragment key={index}>
      {index > 0 && '\n'}
      <span className={styles.line} style={{ '--indent': indent.length } as CSSProperties}>
        {indent && <span className={styles.indent}>{indent}</span>}
        {rest.map((span, at) =>
          typeof span === 'string' ? (
            span
          ) : (
            <span key={at} className={styles[span[0]]}>
              {span[1]}
            </span>
          ),
        )}
      </span>
    </Fragment>
  ));
}

interface Line {
  /** Leading white space. */
  indent: string;
  rest: Span[];
}

function toLines(spans: Span[]): Line[] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    const [rest = '', ...others] = breakSpan(span);
    lines.at(-1)?.push(rest);
    lines.push(...others.map((piece) => [piece]));
  }
  return lines.map(toLine);
}

function breakSpan(span: Span): Span[] {
  return typeof span === 'string' ? span.split('\n') : span[1].split('\n').map((text) => [span[0], text]);
}

function toLine([first = '', ...others]: Span[]): Line {
  const text = typeof first === 'string' ? first : first[1];
  const begin = text.length - text.trimStart().length;
  const rest = text.slice(begin);
  return { indent: text.slice(0, begin), rest: [typeof first === 'string' ? rest : [first[0], rest], ...others] };
}
