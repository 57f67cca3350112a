interface FilePlaceProps {
  readonly file: string;
  readonly line?: number | undefined;
}

/** A file and the line in it. Where there is no room for both, the folders stand in a line of their own. */
export function FilePlace({ file, line }: FilePlaceProps) {
  const name = file.lastIndexOf('/') + 1;
  return (
    <code>
      {file.slice(0, name)}
      <wbr />
      {file.slice(name)}
      {line ? `:${line}` : ''}
    </code>
  );
}
