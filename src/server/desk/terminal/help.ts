/** @param command how the user calls it: `npm run desk --` */
export function toHelp(command: string): string {
  const usages = USAGES.map(([usage, words, options]) => [`  ${command} ${usage}`.trimEnd(), words, options] as const);
  const size = Math.max(...usages.map(([usage]) => usage.length));
  const lines = usages.flatMap(([usage, words, options]) => [
    `${usage.padEnd(size)}  ${words}`,
    ...options.map((line) => `      ${line}`),
  ]);
  return `Shows and changes incidents in a terminal. It reads the store directly, whether a server runs or not.

${lines.join('\n')}

It uses the server's settings, such as DATA_DIR and DESK_DATABASE_URL. Colour: NO_COLOR, FORCE_COLOR.
`;
}

const USAGES: readonly (readonly [usage: string, words: string, options: readonly string[]])[] = [
  [
    '',
    'lists open incidents',
    [
      '--state open|resolved|ignored|all  --side server|browser  --kind <kind>  --within 1h|24h|7d|30d',
      '--search <words>  --route <pattern>  --release <name>  --environment <name>',
      '--assignee <name>, or - for unassigned  --sort last|first|count|visitors  --limit <number>  --json',
    ],
  ],
  ['7K3QM2XA', 'shows an incident and its latest occurrence; --json', []],
  ['7K3QM2XA-9F4W0R6B', 'shows one occurrence; a request id or trace id also works', []],
  [
    '7K3QM2XA-9F4W0R6B --test',
    'writes a test that fails in the same way to tests/product/failures; --force: replaces it',
    [],
  ],
  ['resolve <digest>…', 'resolves incidents; --in next: in the next release', []],
  ['ignore <digest>…', 'ignores them forever; --for 7d, or --until-more 100 within an hour', []],
  ['reopen <digest>…', 'reopens them; for all three: --as <name> instead of your system user name', []],
  ['link [<name>]', 'prints a sign-in link for the desk; it works once and expires after 15 minutes', []],
  ['backup <file>', 'copies a SQLite store to a file, or to a pipe (-); --force: replaces a file', []],
  ['restore <file>', 'restores a backup while no server runs; with PostgreSQL, without a file, after pg_restore', []],
  ['replay', 'stores entries that the store refused before (dead-letters.ndjson)', []],
  [
    'forget <visitor>',
    "deletes a visitor's data and keeps the counts",
    ['by visitor id (from the desk or your own), email address, address of an occurrence, or IP address'],
  ],
];
