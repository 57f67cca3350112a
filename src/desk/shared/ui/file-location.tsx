interface FileLocationProps {
  readonly file: string;
  readonly line?: number | undefined;
}

/** A file and a line number. If there is not enough room, the folders are on a separate line. */
export function FileLocation({ file, line }: FileLocationProps) {
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
