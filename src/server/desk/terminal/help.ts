/** @param command how it is called: `npm run desk --` */
export function toHelp(command: string): string {
  const usages = USAGES.map(([usage, words, options]) => [`  ${command} ${usage}`.trimEnd(), words, options] as const);
  const size = Math.max(...usages.map(([usage]) => usage.length));
  const lines = usages.flatMap(([usage, words, options]) => [
    `${usage.padEnd(size)}  ${words}`,
    ...options.map((line) => `      ${line}`),
  ]);
  return `What the desk knows, in a terminal. It reads the store directly, beside a running server too.

${lines.join('\n')}

Settings are the server's: DATA_DIR, DESK_DATABASE_URL and the like. Colour: NO_COLOR, FORCE_COLOR.
Where the site does not start, DESK_ONLY=1 serves the desk alone.
`;
}

const USAGES: readonly (readonly [usage: string, words: string, options: readonly string[]])[] = [
  [
    '',
    'the open incidents',
    [
      '--state open|resolved|ignored|all  --side server|browser  --kind <kind>  --within 1h|24h|7d|30d',
      '--search <words>  --route <pattern>  --release <name>  --environment <name>',
      '--assignee <name>, or - for nobody  --sort last|first|count|visitors  --limit <number>  --json',
    ],
  ],
  ['7K3QM2XA', 'the story of an incident, with its latest occurrence; --json', []],
  ['7K3QM2XA-9F4W0R6B', 'one time that it happened; the id of a request or of a trace does too', []],
  ['resolve <digest>…', '--in next: in the next release', []],
  ['ignore <digest>…', 'forever; --for 7d, or --until-more 100 within an hour', []],
  ['reopen <digest>…', 'of all three: --as <name>, in the place of the user of this system', []],
  ['link [<name>]', 'a link that signs in to the desk, for one use and 15 minutes', []],
  ['backup <file>', 'copies a SQLite store to a file, or to a pipe (-); --force: replaces a file', []],
  ['restore <file>', 'restores it, while no server runs; with PostgreSQL, without a file, after pg_restore', []],
  ['replay', 'stores what the store refused before (dead-letters.ndjson)', []],
  [
    'forget <whom>',
    'what is kept of a visitor goes, counts remain',
    ['by the id that is shown or is yours, e-mail address, address of an occurrence, or IP address'],
  ],
];
