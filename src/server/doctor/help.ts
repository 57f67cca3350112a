/** @param command how it is called: `npm run doctor --` */
export function toHelp(command: string): string {
  return `Says what is wrong with the settings here, or with the way that leads to a site, and what to do.

  ${command}                          the settings of this environment; nothing is started or changed
  ${command} https://www.example.com  what visitors get there, through every proxy in between

  --token-file <file>  a token of the desk, so that the server says what it sees. Without it that is
                       VIEWER_TOKEN, OPERATOR_TOKEN, or the one that is kept in DATA_DIR
  --json               for programs

It ends with 0, with 1 where something is wrong, and with 2 where it was called wrongly. Warnings alone do not fail.
`;
}
