import { Code } from './code.tsx';
import { CodeLines, type Span } from './code-lines.tsx';

/** What an import of `excerpt:<file>#<name>` gives. */
export interface Source {
  /** From the root of the project. */
  file: string;
  firstLine: number;
  lastLine: number;
  spans: Span[];
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
      <CodeLines of={spans} />
    </Code>
  );
}
