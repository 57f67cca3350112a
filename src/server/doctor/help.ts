/** @param command how to run it: `npm run doctor --` */
export function toHelp(command: string): string {
  return `Finds what is wrong with the settings here, or with the proxies in front of a site, and says what to do.

  ${command}                          the settings of this environment; nothing is started or changed
  ${command} https://www.example.com  what visitors get there, through every proxy

  --token-file <file>  a file with a token of the desk, so that the server shows what it sees
                       Default: VIEWER_TOKEN, OPERATOR_TOKEN, or the token stored in DATA_DIR
  --json               output for programs

Exit code: 0, 1 if something is wrong, 2 if the arguments are invalid. Warnings do not fail.
`;
}
