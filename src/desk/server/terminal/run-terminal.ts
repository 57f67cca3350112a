import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError } from '#engine/server';
import { type Environment, parseAddress } from '#engine/tracker';
import { STATE_WORDS } from '../../shared/choices.ts';
import { toPlural } from '../../shared/words.ts';
import { JOURNAL_FOLDER } from '../data-files.ts';
import { readView, toFilter } from '../read-view.ts';
import { StoreError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import { toClean, toCleanJson } from '../views/clean-text.ts';
import { toIncidentMarkdown, toListMarkdown } from '../views/incident-markdown.ts';
import { toDeletedWords } from '../views/present-history.ts';
import { presentIncident } from '../views/present-incident.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import { NO_TEST, presentTest } from '../views/present-test.ts';
import { writeBackup } from './backup.ts';
import { makeSignInLink } from './sign-in-link.ts';
import { openTerminalDesk, type TerminalDesk } from './terminal-desk.ts';
import { TerminalError, UsageError } from './terminal-error.ts';

const HELP = `Reads the desk's store directly, whether a server runs or not. It uses the server's settings, such as DATA_DIR.

  list [--state open|resolved|ignored|all] [--search <words>] [--environment <name>] [--limit <number>]
                     lists incidents
  <address>          shows an incident: 7K3QM2XA, 7K3QM2XA-9F4W0R6B, a request id or a trace id
  <address> --test   writes a test that fails in the same way to tests/product/failures
  link [<name>]      prints a sign-in link for the desk: it works once, within 15 minutes
  backup <file>      copies a SQLite store to a file
  forget <visitor>   deletes a visitor's failures: an address of one, an IP address, or a visitor id. Counts stay

  --json             prints JSON instead of Markdown
`;

const OPTIONS = {
  state: { type: 'string' },
  search: { type: 'string' },
  environment: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
  test: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** The length of a digest. Addresses and the ids of requests and traces have more characters. */
const SHORTEST_NAME = 8;

/** The most incidents that are listed (counts). */
const LISTED = 20;
const MAX_LISTED = 200;

interface TerminalOptions {
  /** The arguments after the name of the command. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  /** The folder of the project, for tests. */
  readonly root: string;
}

/** The arguments after the name of the command. */
interface Typed {
  readonly values: Values;
  readonly words: readonly string[];
}

interface Output {
  /** Writes a result to standard output. */
  readonly print: (text: string) => void;
  /** Writes a sentence to standard error. */
  readonly tell: (text: string) => void;
}

type Command = (typed: Typed, desk: TerminalDesk, output: Output) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  list,
  link,
  backup,
  forget,
  /** For `npm start -- --check`: can failures be stored? */
  check: (_typed, { store }) => store.check(),
};

/** @returns the exit code: 0, 1 if the command fails or finds nothing, 2 for wrong usage */
export async function runTerminal({ args, env, out, err, root }: TerminalOptions): Promise<number> {
  const tell = (text: string) => void err.write(`${toClean(text)}\n`);
  const print = (text: string) => void out.write(text);
  try {
    const { values, positionals } = parse(args);
    const [name = 'list', ...rest] = positionals;
    if (values.help || name === 'help') {
      print(HELP);
      return 0;
    }
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    const words = positionals.join(' ').trim();
    if (!command && words.length < SHORTEST_NAME) {
      throw new UsageError(`"${words}" is neither a command nor an address.\n\n${HELP}`);
    }
    const desk = await openTerminalDesk(env, root);
    try {
      const typed = { values, words: command ? rest : positionals };
      await (command ?? show)(typed, desk, { print, tell });
    } finally {
      await desk.store.close();
    }
    return 0;
  } catch (error) {
    const isExpected = [UsageError, TerminalError, ConfigError, StoreError].some((kind) => error instanceof kind);
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell(isExpected ? (error as Error).message : `The command failed: ${stack}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @throws UsageError */
function parse(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${HELP}`);
  }
}

async function list({ values }: Typed, { store, settings }: TerminalDesk, { print, tell }: Output): Promise<void> {
  const now = Date.now();
  const { state = 'open', search = '', environment = '', limit = String(LISTED) } = values;
  if (state !== 'all' && !Object.hasOwn(STATE_WORDS, state)) {
    throw new UsageError(`--state must be open, resolved, ignored or all, not ${state}.`);
  }
  if (!/^[1-9]\d*$/.test(limit) || Number(limit) > MAX_LISTED)
    throw new UsageError(`--limit must be a number from 1 to ${MAX_LISTED}, not ${limit}.`);
  const view = readView(new URLSearchParams({ state, search, environment }));
  const filter = toFilter(view, { now, environment: settings.environment });
  const [page, totals, environments] = await Promise.all([
    store.list.listIncidents({ ...filter, limit: Number(limit) }),
    store.list.countStates(filter),
    store.builds.listEnvironments(),
  ]);
  const rows = page.incidents.map(presentIncidentRow);
  if (values.json) return print(`${toCleanJson({ now, environment: filter.environment, totals, incidents: rows })}\n`);
  const total = view.state === 'all' ? totals.open + totals.resolved + totals.ignored : totals[view.state];
  const which = view.state === 'all' ? '' : `${view.state}, `;
  print(toListMarkdown(rows, { heading: `(${which}${toClean(filter.environment)})`, total, most: MAX_LISTED, now }));
  const others = environments.filter((name) => name !== filter.environment);
  if (!environment && others[0]) tell(`There are more in --environment ${others.join(', ')}.`);
}

async function show({ values, words }: Typed, desk: TerminalDesk, output: Output): Promise<void> {
  const { store, settings } = desk;
  const text = words.join(' ');
  const named = await store.finder.resolveQuery(text);
  const found = named && (await store.finder.find(named, values.environment ?? named.environment));
  if (!found) {
    const digest = parseAddress(text)?.digest;
    const deletion = digest === undefined ? undefined : await store.history.readDeletion(digest, values.environment);
    if (deletion) throw new TerminalError(toDeletedWords(deletion));
    throw new TerminalError(
      `Nothing found for "${text}": no stored failure has this digest, address, request id or trace id. To search for words: list --search <words>`,
    );
  }
  const details = await store.details.readDetails(found.incident.key, found.occurrence?.occurrence ?? named.occurrence);
  if (values.test) return writeTest(desk.root, details.shown?.full && presentTest(details.shown.full), output);
  const now = Date.now();
  const incident = presentIncident(found, details, settings, now);
  output.print(values.json ? `${toCleanJson(incident)}\n` : toIncidentMarkdown(incident, now));
}

function writeTest(root: string, test: ReturnType<typeof presentTest>, { print, tell }: Output): void {
  if (!test) throw new TerminalError(NO_TEST);
  if (!existsSync(join(root, 'tests'))) {
    throw new TerminalError(
      `${root} has no folder "tests". Use the command in a clone of your project, or "Copy test" in the desk.`,
    );
  }
  const path = join(root, test.file);
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path)) throw new TerminalError(`${test.file} exists already. Delete it to write it again.`);
  writeFileSync(path, test.text, { flag: 'wx' });
  print(`${test.file}\n`);
  for (const words of test.missing) tell(`TODO: ${words}`);
}

async function link({ words: [name] }: Typed, desk: TerminalDesk, { print, tell }: Output): Promise<void> {
  const made = await makeSignInLink(desk, name);
  const note = made.role === 'operator' ? '' : ' (read-only)';
  tell(`Sign-in link for ${made.name}${note}. It works once and expires after 15 minutes.`);
  if (made.isGuessed) {
    tell(
      'The link guesses the address of the server. Set DESK_ORIGIN or PUBLIC_ORIGINS, or HOST and PORT, to what the server has.',
    );
  }
  print(`${made.link}\n`);
}

async function backup({ words }: Typed, { settings }: TerminalDesk, { tell }: Output): Promise<void> {
  const [file] = words;
  if (file === undefined) throw new UsageError('Name the file: backup <file>.');
  if (settings.databaseUrl !== undefined) {
    throw new TerminalError(
      'DESK_DATABASE_URL names a PostgreSQL database. Back it up with pg_dump. docs/desk.md, "Backups", has the command.',
    );
  }
  writeBackup(settings.dataDir, file);
  tell(`The backup is ${file}. It contains visitor data, so only you can read it.`);
}

async function forget({ words }: Typed, { store, settings }: TerminalDesk, { tell }: Output): Promise<void> {
  const [whom] = words;
  if (!whom?.trim()) throw new UsageError('Name the visitor: forget <address, IP address or visitor id>.');
  const count = await forgetVisitor(whom, store);
  if (hasWaiting(join(settings.dataDir, JOURNAL_FOLDER))) {
    tell('Failures that wait in a journal are not deleted. Repeat this when the server has stored them.');
  }
  if (count === 0) throw new TerminalError(`No stored failure is from "${whom}".`);
  tell(`Deleted ${toPlural(count, 'failure')} and the texts that incidents had from them. Counts remain.`);
  tell(
    'Not changed: backups, logs, sent notifications and data sent to SENTRY_DSN. Also read the notes on the incidents: a colleague may have mentioned the visitor.',
  );
}

/** Reports whether a journal below this folder has entries. The server deletes what is stored. */
function hasWaiting(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('.ndjson'));
}

/**
 * Deletes the failures of a visitor.
 *
 * @param text the address of one of the failures, or what `Store.visitors.forgetVisitor()` accepts
 * @returns the number of deleted failures
 */
async function forgetVisitor(text: string, store: Store): Promise<number> {
  const whom = text.trim();
  const address = parseAddress(whom);
  // A visitor id can look like an address.
  const found = address?.occurrence === undefined ? undefined : await store.finder.find(address);
  if (found?.occurrence) {
    const { key, occurrence, visitor } = found.occurrence;
    if (visitor !== undefined) return store.visitors.forgetVisitor(visitor);
    return (await store.changes.deleteOccurrence(key, occurrence, 'desk')) ? 1 : 0;
  }
  return store.visitors.forgetVisitor(whom);
}
