/** @param command how it is called: `npm run desk --` */
export function toHelp(command: string): string {
  return `What the desk knows, in a terminal. It reads the store directly, beside a running server too.

  ${command}                            the open incidents
      --state open|resolved|ignored|all --search <words> --release <name> --route <pattern>
      --side server|browser --kind <kind> --assignee <name>, or - for nobody --within 1h|24h|7d|30d
      --sort last|first|count|visitors --limit <number> --json
  ${command} 7K3QM2XA                   the story of an incident, with its latest occurrence
  ${command} 7K3QM2XA-9F4W0R6B          one time that it happened; the id of a request or a trace does too
      --json

  ${command} resolve <digest>…          --in next: in the next release
  ${command} ignore <digest>…           --for 7d, or --until-more 100 within an hour; else for ever
  ${command} reopen <digest>…
      --as <name>: who changes it; else the user of this system

  ${command} link [<name>]              a link that signs in to the desk, for one use and 15 minutes
  ${command} backup <file>              all of the store in one file; - writes it to a pipe. --force: over an older one
  ${command} restore <file>             puts a backup in the place of the store. Stop the server first
      --replace: of a PostgreSQL that has a desk already
  ${command} forget <whom>              a visitor's id, an e-mail address, the address of an occurrence, or an IP address:
                                       what is kept of them goes, counts remain

Settings are the server's: DATA_DIR, DESK_DATABASE_URL and the like. Colour: NO_COLOR, FORCE_COLOR.
Where the site does not start, DESK_ONLY=1 serves the desk alone.
`;
}
