import { Code } from './code.tsx';
import { CodeLines, type Span } from './code-lines.tsx';

/** The default export of `excerpt:<file>#<name>`. */
export interface Source {
  /** Relative to the project's root. */
  file: string;
  firstLine: number;
  lastLine: number;
  spans: Span[];
}

/** Shows lines of a source file of this project. */
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
      <CodeLines of={spans} />
    </Code>
  );
}
