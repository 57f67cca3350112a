import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toArrivingWords } from '../../../shared/desk/words.ts';
import { toExactTime, toPlural } from '../../../shared/words.ts';
import { DIGEST_RULE } from '../../engine/errors/digest/create-digest.ts';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import { toClean, toCleanJson } from '../../terminal/clean-text.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';
import { chooseShown } from '../pages/find-shown.ts';
import { ORDERS, toFilter } from '../pages/read-view.ts';
import { StoreAwayError } from '../store/sql.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import { NO_TEST, presentTest } from '../views/present-test.ts';
import { readIncident, type Shown } from '../views/read-incident.ts';
import { toDeletedWords } from '../views/standing-words.ts';
import { createDigester } from '../worker/maps/digester.ts';
import { createAskStore } from './ask-store.ts';
import { writeBackupFile, writeBackupTo } from './backup-file.ts';
import { changeIncidents } from './change-incidents.ts';
import { type Desktop, draw, write } from './desktop.ts';
import { drawIncident } from './draw-incident.ts';
import { drawList } from './draw-list.ts';
import { forgetInFiles, listCopies, readWhom } from './forget-visitor.ts';
import { toHelp } from './help.ts';
import { ingestJournals } from './ingest-journals.ts';
import { type MadeStore, openTerminalStore, toSqlitePath } from './open-made-store.ts';
import type { Command } from './parse-command.ts';
import { toJournalsOfLetters } from './replay-letters.ts';
import { restoreStore } from './restore-store.ts';
import { makeSignInLink } from './sign-in-link.ts';

/** @throws TerminalError, UsageError, ConfigError, BackupError, StoreAwayError */
export async function runCommand(command: Command, desktop: Desktop): Promise<void> {
  switch (command.is) {
    case 'help':
      return write(desktop, toHelp(desktop.command));
    case 'list':
      return withStore(desktop, (made) => list(command, made, desktop));
    case 'show':
      return withStore(desktop, (made) => show(command, made, desktop));
    case 'test':
      return withStore(desktop, (made) => writeTest(command, made, desktop));
    case 'change':
      return withStore(desktop, ({ store }) => changeIncidents(command, store, desktop));
    case 'link':
      return withStore(desktop, (made) => link(command, made, desktop));
    case 'backup':
      requireSqlite(desktop);
      return withStore(desktop, () => backup(command, desktop));
    case 'restore':
      return restore(command, desktop);
    case 'replay':
      return withStore(desktop, (made) => replay(made, desktop));
    case 'forget':
      return withStore(desktop, (made) => forget(command, made, desktop));
  }
}

/** @throws TerminalError with PostgreSQL, which has its own backup tool */
function requireSqlite({ settings }: Desktop): void {
  if (settings.databaseUrl === undefined) return;
  throw new TerminalError(
    'DESK_DATABASE_URL names a PostgreSQL database. Back it up with pg_dump. docs/desk.md, "Backups", has the command.',
  );
}

async function withStore(desktop: Desktop, work: (made: MadeStore) => Promise<void>): Promise<void> {
  const made = await openTerminalStore(desktop.settings, { rule: DIGEST_RULE, log: desktop.log });
  try {
    await ingest(made, desktop);
    await work(made);
  } finally {
    await made.store.close();
  }
}

/** Stores journals of ended processes. A failure is reported, and the command continues with what the store has. */
async function ingest(
  { store }: Pick<MadeStore, 'store'>,
  { settings, build, dist, log, tell }: Desktop,
): Promise<void> {
  const { dataDir, environment, namespace } = settings;
  const digester = createDigester({ namespace });
  try {
    const waiting = await ingestJournals({ store, dataDir, environment, build, dist, digester, log });
    if (waiting === 0) return;
    const words = toArrivingWords({ count: waiting, hasMore: false });
    tell(`${words}: a running server is still storing them from its journal, so they are not included here.`);
  } catch (error) {
    if (error instanceof StoreAwayError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    tell(`The journals of ended processes could not be stored: ${reason}`);
  }
}

async function list(
  { view, limit, json }: Extract<Command, { is: 'list' }>,
  { store }: MadeStore,
  desktop: Desktop,
): Promise<void> {
  const { now, paper, command, settings } = desktop;
  const filter = toFilter(view, { now, environment: settings.environment });
  const [page, totals] = await Promise.all([
    store.listIncidents({ ...filter, order: ORDERS[view.sort], limit }),
    store.countStates(filter),
  ]);
  const rows = page.incidents.map((incident) => presentIncidentRow(incident, view.span));
  const { environment } = filter;
  if (json) return write(desktop, `${toCleanJson({ now, environment, view, totals, incidents: rows })}\n`);
  const total = view.state === 'all' ? totals.open + totals.resolved + totals.ignored : totals[view.state];
  draw(desktop, drawList({ now, view, rows, total, command }, paper));
}

async function show(
  { text, json }: Extract<Command, { is: 'show' }>,
  { store }: MadeStore,
  desktop: Desktop,
): Promise<void> {
  const { now, settings } = desktop;
  const ask = createAskStore(store);
  const shown = await findShown(text, store, desktop);
  const { links, environment } = settings;
  const data = await readIncident(shown, { ask, links, environment, now });
  if (json) write(desktop, `${toCleanJson(data)}\n`);
  else draw(desktop, drawIncident(data));
}

/** Writes the test of an occurrence into the project. */
async function writeTest(
  { text, force }: Extract<Command, { is: 'test' }>,
  { store }: MadeStore,
  desktop: Desktop,
): Promise<void> {
  const { shown } = await findShown(text, store, desktop);
  const made = shown?.whole && presentTest(shown.whole);
  if (!made) throw new TerminalError(NO_TEST);
  const root = join(desktop.dist, '..');
  if (!existsSync(join(root, 'tests'))) {
    throw new TerminalError(
      `${toClean(root)} has no folder "tests". Use the command in a clone of your project, or "Copy as test" in the desk.`,
    );
  }
  const path = join(root, made.file);
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, made.text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new TerminalError(`${made.file} exists already. Add --force to replace it.`);
  }
  write(desktop, `${made.file}\n`);
  for (const words of made.missing) desktop.tell(`TODO: ${words}`);
}

/** @throws TerminalError if nothing has this digest, address or id */
async function findShown(text: string, store: MadeStore['store'], { command }: Desktop): Promise<Shown> {
  const ask = createAskStore(store);
  const led = await store.resolveQuery(text);
  const asked = led ? toAddressText(led) : text;
  const found = await ask('find', asked, led?.environment);
  if (!found) {
    const digest = parseAddress(text)?.digest;
    const deletion = digest === undefined ? undefined : await store.readDeletion(digest);
    if (deletion) throw new TerminalError(toClean(toDeletedWords(deletion)));
    throw new TerminalError(
      `Nothing found for "${toClean(text)}": no stored failure has this digest, address, request id or trace id. To search for words: ${command} --search <words>. All commands: ${command} help.`,
    );
  }
  const occurrence = found.occurrence?.occurrence ?? led?.occurrence;
  return chooseShown(found, occurrence, ask);
}

function toAddressText(led: { readonly digest: string; readonly occurrence?: string }): string {
  return led.occurrence === undefined ? led.digest : `${led.digest}-${led.occurrence}`;
}

async function link({ name }: Extract<Command, { is: 'link' }>, { store }: MadeStore, desktop: Desktop): Promise<void> {
  const { settings, env, log, tell } = desktop;
  const made = await makeSignInLink({ store, settings, env, name, log });
  const note = made.whom.role === 'operator' ? '' : ' (read-only)';
  tell(`Sign-in link for ${made.whom.name}${note}. It works once and expires after 15 minutes.`);
  if (made.guessedFrom) {
    tell(
      `The link guesses the address of the server from HOST and ${made.guessedFrom}. If the server has other values, set them for this command too.`,
    );
  }
  write(desktop, `${made.link}\n`);
}

async function backup(
  { file, force }: Extract<Command, { is: 'backup' }>,
  { out, tell, settings }: Desktop,
): Promise<void> {
  const { dataDir } = settings;
  const store = toSqlitePath(dataDir);
  if (file !== '-') {
    writeBackupFile(store, file, { force });
    tell(`The backup is ${toClean(file)}. It contains visitor data, so only you can read it.`);
  } else if (out.isTTY)
    throw new TerminalError(
      'The backup cannot be written to a terminal. Send it to a file or a pipe: backup - > desk.sqlite',
    );
  else await writeBackupTo(out, store, dataDir);
}

async function restore({ file }: Extract<Command, { is: 'restore' }>, { settings, log, tell }: Desktop): Promise<void> {
  const { at, incidents, aside } = await restoreStore({ file, settings, rule: DIGEST_RULE, log });
  const from = at === undefined ? '' : ` from the backup of ${toExactTime(at)}`;
  tell(`Restored ${toPlural(incidents, 'incident')}${from}. Start the server.`);
  if (aside !== undefined) tell(`The previous store is now ${toClean(aside)}. Delete it when you no longer need it.`);
}

async function replay(made: MadeStore, desktop: Desktop): Promise<void> {
  const { settings, tell, now } = desktop;
  const count = toJournalsOfLetters(settings.dataDir, now);
  if (count === 0) return tell('There is nothing to replay: the store has not refused any entries.');
  tell(`Replaying ${toPlural(count, 'entry', 'entries')} from dead-letters.ndjson.`);
  await ingest(made, desktop);
}

async function forget(
  { whom: text }: Extract<Command, { is: 'forget' }>,
  { store }: MadeStore,
  desktop: Desktop,
): Promise<void> {
  const { settings, tell } = desktop;
  const whom = await readWhom(text, store, { now: desktop.now, maxAge: settings.maxAge });
  const first = await store.forgetVisitor(whom);
  await ingest({ store }, desktop);
  // Another replica may have stored some of it in the meantime.
  const second = await store.forgetVisitor(whom);
  await forgetInFiles(store, settings.dataDir, whom, new Set([...first.names, ...second.names]));
  for (const sentence of whom.words) tell(sentence);
  const occurrences = toPlural(first.occurrences + second.occurrences, 'occurrence');
  const feedback = toPlural(first.feedback + second.feedback, 'feedback message');
  tell(`Deleted ${occurrences} and ${feedback}, and the texts that incidents had from them. Counts remain.`);
  tell("The visitor's entries that are still in a journal will be skipped when the journal is stored.");
  if (settings.databaseUrl !== undefined) {
    tell('Other replicas have journals in their own DATA_DIR. Run the command there too, or restart those replicas.');
  }
  const copies = listCopies(settings.dataDir).map(toClean);
  tell(
    `Not changed: existing backups, server logs, notifications, data sent to SENTRY_DSN${copies.length > 0 ? `, and these copies: ${copies.join(', ')}` : ''}. Also read the notes on the incidents: a colleague may have mentioned the visitor.`,
  );
}
