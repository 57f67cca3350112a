import type { DeskLog } from '../desk-log.ts';
import type { IncidentKey } from './incident-key.ts';
import type { StoredFailure } from './records.ts';
import { lockSchema } from './schema.ts';
import {
  hasTable,
  insertRows,
  placeholders,
  readNumber,
  type Sql,
  type SqlDriver,
  type SqlValue,
  toColumn,
} from './sql.ts';

/** The length of an incident's search text (characters), which includes some URLs and user agents. */
const MAX_TEXT = 2500;
/** The length of one of its lines (characters). */
const MAX_LINE = 300;
/** The number of URLs and the number of tags in it, because each request can have different ones. */
const MAX_VARYING = 15;
const VARYING = [/^(?:\/|https?:)/, /^tag:/];
/** The number of frames of each error whose files are in it. */
const MAX_FRAMES = 10;
/** The number of words that a search uses, and the length of each (characters). */
const MAX_WORDS = 8;
const MAX_WORD = 100;
/** The length of a trigram (characters). Shorter words are searched without the index. */
const TRIGRAM = 3;

/**
 * Creates the index of the table `desk_search`, which has the search text of each incident. The text is in
 * lower case, which both databases compare alike. SQLite uses an FTS5 table of trigrams that triggers keep
 * up to date. PostgreSQL uses a `pg_trgm` index. Words match parts of the text and are never patterns.
 *
 * @param log gets a warning if PostgreSQL does not allow the extension. A search then reads every text
 */
export async function prepareSearch(driver: SqlDriver, log: DeskLog | undefined): Promise<void> {
  if (driver.dialect.name === 'sqlite') return driver.migration(prepareSqlite);
  return preparePostgres(driver, log);
}

async function prepareSqlite(sql: Sql): Promise<void> {
  if (await hasTable(sql, 'desk_search_index')) return;
  await sql.run(
    "CREATE VIRTUAL TABLE desk_search_index USING fts5 (text, content = 'desk_search', content_rowid = 'id', tokenize = 'trigram', detail = none)",
  );
  const add = 'INSERT INTO desk_search_index (rowid, text) VALUES (new.id, new.text);';
  const remove = "INSERT INTO desk_search_index (desk_search_index, rowid, text) VALUES ('delete', old.id, old.text);";
  for (const [event, work] of [
    ['INSERT', add],
    ['DELETE', remove],
    ['UPDATE', remove + add],
  ]) {
    await sql.run(`CREATE TRIGGER desk_search_${event} AFTER ${event} ON desk_search BEGIN ${work} END`);
  }
  await sql.run("INSERT INTO desk_search_index (desk_search_index) VALUES ('rebuild')");
}

/**
 * Merges the segments of SQLite's search index, which removes the words of changed and deleted texts. It
 * works in steps, so that other writers can run in between.
 */
export async function mergeIndex(driver: SqlDriver): Promise<void> {
  if (driver.dialect.name !== 'sqlite') return;
  for (let step = 0; step < MAX_MERGE_STEPS; step += 1) {
    const isDone = await driver.transaction(async (sql) => {
      const before = await countChanges(sql);
      await sql.run(`INSERT INTO desk_search_index (desk_search_index, rank) VALUES ('merge', -${MERGE_PAGES})`);
      // According to SQLite's documentation, fewer than two changes mean that nothing is left to merge.
      return (await countChanges(sql)) - before < 2;
    });
    if (isDone) return;
  }
}

/** The number of pages that one step merges, which takes about 0.1 s. */
const MERGE_PAGES = 200;
/** The most steps, more than any index needs. */
const MAX_MERGE_STEPS = 10_000;

function countChanges(sql: Sql): Promise<number> {
  return readNumber(sql, 'SELECT total_changes() AS value');
}

async function preparePostgres(driver: SqlDriver, log: DeskLog | undefined): Promise<void> {
  const isReady = (sql: Sql) => hasTable(sql, 'desk_search_trigrams');
  if (await isReady(driver)) return;
  await driver.migration(async (sql) => {
    await lockSchema(sql);
    if (await isReady(sql)) return;
    await sql.run('SAVEPOINT desk_search');
    try {
      await sql.run('CREATE EXTENSION IF NOT EXISTS pg_trgm');
      // With `fastupdate`, each search would have to read a list of entries that are not indexed yet.
      await sql.run(
        'CREATE INDEX desk_search_trigrams ON desk_search USING gin (text gin_trgm_ops) WITH (fastupdate = off)',
      );
    } catch (error) {
      await sql.run('ROLLBACK TO SAVEPOINT desk_search');
      log?.warn(
        { err: error },
        "The PostgreSQL extension pg_trgm could not be created, so searches are slower. Allow the desk's user to create it (GRANT CREATE ON DATABASE) or create it as an administrator, then restart.",
      );
    }
  });
}

/** A condition on an incident `i`. */
interface SearchCondition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Returns a condition for incidents whose text contains all words. If few incidents match, the trigram index lists them.
 * Otherwise the list is read in its order and each text is checked, because that ends once the page is full.
 *
 * @returns undefined if the search has no words
 */
export async function createMatch(sql: Sql, search: string): Promise<SearchCondition | undefined> {
  const words = toWords(search);
  if (words.length === 0) return undefined;
  const indexed = sql.dialect.name === 'sqlite' ? matchSqlite(words) : matchPostgres(words);
  const rows = await sql.all<{ key: IncidentKey }>(
    `SELECT s.key FROM ${indexed.from} WHERE ${indexed.text} LIMIT ${FEW + 1}`,
    indexed.values,
  );
  if (rows.length <= FEW) {
    const keys = rows.map(({ key }) => key);
    // SQL does not allow an empty list.
    return { text: `i.key IN (${placeholders(keys) || 'NULL'})`, values: keys };
  }
  const each = sql.dialect.name === 'sqlite' ? readThrough(words) : indexed;
  return { text: `EXISTS (SELECT 1 FROM desk_search s WHERE s.key = i.key AND ${each.text})`, values: each.values };
}

/** The most incidents that a statement lists one by one. */
const FEW = 300;

function toWords(search: string): string[] {
  const words = toColumn(search).toLowerCase().split(/\s+/).filter(Boolean);
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD).toWellFormed());
}

/** A search that uses the index for the words that it supports. */
interface IndexedSearch extends SearchCondition {
  readonly from: string;
}

function matchSqlite(words: readonly string[]): IndexedSearch {
  const long = words.filter((word) => [...word].length >= TRIGRAM);
  // An index with `detail = none` is a sixth of the size, but supports only LIKE without ESCAPE.
  const likes = long.map(() => 'x.text LIKE ?').join(' AND ');
  const patterns = long.map((word) => `%${word.replace(/[%_]/g, '_')}%`);
  const rest = readThrough(words.filter((word) => !long.includes(word) || /[%_]/.test(word)));
  if (long.length === 0) return { from: 'desk_search s', ...rest };
  return {
    // CROSS JOIN keeps this order, so that the query stops at the limit.
    from: 'desk_search_index x CROSS JOIN desk_search s ON s.id = x.rowid',
    text: rest.text ? `${likes} AND ${rest.text}` : likes,
    values: [...patterns, ...rest.values],
  };
}

function readThrough(words: readonly string[]): SearchCondition {
  return { text: words.map(() => 'instr(s.text, ?) > 0').join(' AND '), values: words };
}

function matchPostgres(words: readonly string[]): IndexedSearch {
  return {
    from: 'desk_search s',
    text: words.map(() => 's.text LIKE ?').join(' AND '),
    values: words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`),
  };
}

/** Adds lines from these failures to the search texts of their incidents, as far as there is room. */
export async function storeSearch(
  sql: Sql,
  failures: readonly { readonly key: IncidentKey; readonly failure: StoredFailure }[],
): Promise<void> {
  if (failures.length === 0) return;
  const groups = Map.groupBy(failures, ({ key }) => key);
  const keys = [...groups.keys()];
  const known = await sql.all<{ key: IncidentKey; text: string }>(
    `SELECT key, text FROM desk_search WHERE key IN (${placeholders(keys)})`,
    keys,
  );
  const texts = new Map(known.map(({ key, text }) => [key, text]));
  const rows = [...groups].flatMap(([key, group]) => {
    const before = texts.get(key);
    const text = group.map(({ failure }) => listLines(failure)).reduce(addLines, before ?? '');
    return text === before ? [] : [{ key, text }];
  });
  await insertRows(sql, 'desk_search', rows, 'ON CONFLICT (key) DO UPDATE SET text = excluded.text');
}

/**
 * Rebuilds the search text of an incident from its columns and the remaining full records.
 *
 * @param left the remaining full records, the oldest first
 */
export async function rebuildSearch(sql: Sql, key: IncidentKey, left: readonly StoredFailure[]): Promise<void> {
  const [facts] = await sql.all<Record<string, string | null>>(
    'SELECT digest, title, location_path, location_function, route FROM desk_incidents WHERE key = ?',
    [key],
  );
  if (!facts) return;
  const known = Object.values(facts).map((fact) => fact ?? '');
  const text = [known, ...left.map(listLines)].reduce(addLines, '');
  await sql.run('UPDATE desk_search SET text = ? WHERE key = ?', [text, key]);
}

function addLines(text: string, added: readonly string[]): string {
  const lines = new Set(text.split('\n').filter(Boolean));
  let length = text.length;
  for (const line of added) {
    const clean = toColumn(line.replace(/\s+/g, ' '), MAX_LINE).toLowerCase();
    if (clean === '' || lines.has(clean) || length + clean.length + 1 > MAX_TEXT) continue;
    if (isCrowded(clean, lines)) continue;
    lines.add(clean);
    length += clean.length + 1;
  }
  return [...lines].join('\n');
}

function isCrowded(line: string, lines: ReadonlySet<string>): boolean {
  const pattern = VARYING.find((varying) => varying.test(line));
  return pattern !== undefined && [...lines].filter((other) => pattern.test(other)).length >= MAX_VARYING;
}

/** Lists the search lines of a failure, the most specific first. Later failures add only lines that differ. */
function listLines(failure: StoredFailure): string[] {
  const { digest, title, errors, site, route, resolved, request, level, tags = {} } = failure;
  return [
    digest,
    title,
    ...errors.map(({ message }) => message),
    ...(site ? [site.path, site.function] : []),
    route ?? '',
    level ? `level:${level}` : '',
    ...Object.entries(tags).map(([name, value]) => `tag:${name}=${value}`),
    request?.url ?? '',
    request?.headers?.['user-agent'] ?? '',
    ...errors.flatMap(({ frames }, index) =>
      (resolved?.[index] ?? frames).slice(0, MAX_FRAMES).map(({ file }) => file),
    ),
  ];
}
