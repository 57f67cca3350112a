/** @param command how to run it: `npm run doctor --` */
export function toHelp(command: string): string {
  return `Finds problems with the settings of this environment, or with the proxies in front of a site, and says how to fix them.

  ${command}                          checks the settings of this environment; starts and changes nothing
  ${command} https://www.example.com  checks what visitors get there, through every proxy

  --token-file <file>  a file with an operator's token, so that the server shows what it sees
                       Default: VIEWER_TOKEN, OPERATOR_TOKEN, or the token stored in DATA_DIR
  --json               output for programs

Exit code: 0, 1 if something is wrong, 2 if the arguments are invalid. Warnings do not fail.
`;
}
