import type { DeskLog } from '../../desk-log.ts';
import { lockSchema } from '../migrations.ts';
import type { StoredFailure } from '../records.ts';
import { hasTable, insertRows, placeholders, readNumber, type Sql, type SqlDriver, type SqlValue } from '../sql.ts';
import { toColumn } from '../to-column.ts';

/** What an incident is found by (characters): some URLs and user agents among it. */
const MAX_TEXT = 2500;
/** One of its lines (characters). */
const MAX_LINE = 300;
/** URLs of an incident that it is found by (a count): each visit may have another. */
const MAX_URLS = 15;
/** Frames whose files are found, of each error (a count). */
const MAX_FRAMES = 10;
/** Words of a search that count (a count), and their length (characters). */
const MAX_WORDS = 8;
const MAX_WORD = 100;
/** What a trigram needs (characters); shorter words are looked for without the index. */
const TRIGRAM = 3;

/**
 * The table `desk_search` holds, for each incident, a line for each thing that it is found by, in
 * small letters, because both databases compare those alike. SQLite has an FTS5 table of trigrams
 * beside it that triggers keep, PostgreSQL an index of `pg_trgm`. Words are parts of the text, never
 * patterns.
 *
 * @param log told where PostgreSQL does not let the extension be made: then each text is read through
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
 * Merges the segments of SQLite's search index, which drops words of texts that were changed or deleted.
 * In steps, so that other writers can go in between.
 */
export async function mergeIndex(driver: SqlDriver): Promise<void> {
  if (driver.dialect.name !== 'sqlite') return;
  for (let step = 0; step < MAX_MERGE_STEPS; step += 1) {
    const isDone = await driver.transaction(async (sql) => {
      const before = await countChanges(sql);
      await sql.run(`INSERT INTO desk_search_index (desk_search_index, rank) VALUES ('merge', -${MERGE_PAGES})`);
      // By SQLite's documentation, nothing is left to merge then.
      return (await countChanges(sql)) - before < 2;
    });
    if (isDone) return;
  }
}

/** Pages that one step merges (a count): it takes about 0.1 s. */
const MERGE_PAGES = 200;
/** More than any index needs (a count). */
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
      // Texts change seldom; a list of what is not indexed yet would be read through by each search.
      await sql.run(
        'CREATE INDEX desk_search_trigrams ON desk_search USING gin (text gin_trgm_ops) WITH (fastupdate = off)',
      );
    } catch (error) {
      await sql.run('ROLLBACK TO SAVEPOINT desk_search');
      log?.warn(
        { err: error },
        "PostgreSQL did not let the desk use the extension pg_trgm, so a search reads all texts. Let the desk's user create it (GRANT CREATE ON DATABASE), or create it as an administrator, and start again.",
      );
    }
  });
}

/** A condition on an incident `i`. */
interface SearchCondition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Makes the condition. @param family which digests are an incident's: `= i.digest` */
export type SearchMatch = (family: string) => SearchCondition;

/**
 * The incidents whose text holds all words; merged ones count for what they were merged into. Few are
 * listed by the index of trigrams. Where there are many, the list is read in its order and each text is
 * looked at, because it ends with the page.
 *
 * @returns undefined where there are no words
 */
export async function matchSearch(sql: Sql, search: string): Promise<SearchMatch | undefined> {
  const words = toWords(search);
  if (words.length === 0) return undefined;
  const indexed = sql.dialect.name === 'sqlite' ? matchSqlite(words) : matchPostgres(words);
  const rows = await sql.all<{ digest: string }>(
    `SELECT COALESCE(m.merged_into, m.digest) AS digest FROM ${indexed.from} JOIN desk_incidents m ON m.digest = s.digest
      WHERE ${indexed.text} LIMIT ${FEW + 1}`,
    indexed.values,
  );
  if (rows.length <= FEW) {
    const digests = [...new Set(rows.map(({ digest }) => digest))];
    // An empty list is no SQL.
    return () => ({ text: `i.digest IN (${placeholders(digests) || 'NULL'})`, values: digests });
  }
  const each = sql.dialect.name === 'sqlite' ? readThrough(words) : indexed;
  return (family) => ({
    text: `EXISTS (SELECT 1 FROM desk_search s WHERE s.digest ${family} AND ${each.text})`,
    values: each.values,
  });
}

/** Incidents that a statement names one by one (a count). */
const FEW = 300;

function toWords(search: string): string[] {
  const words = toColumn(search).toLowerCase().split(/\s+/).filter(Boolean);
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD).toWellFormed());
}

/** What is read by the index, where there is one for it. */
interface IndexedSearch extends SearchCondition {
  readonly from: string;
}

function matchSqlite(words: readonly string[]): IndexedSearch {
  const long = words.filter((word) => [...word].length >= TRIGRAM);
  // An index without places, a sixth as large, answers LIKE alone, and no LIKE that has an ESCAPE.
  const likes = long.map(() => 'x.text LIKE ?').join(' AND ');
  const patterns = long.map((word) => `%${word.replace(/[%_]/g, '_')}%`);
  const rest = readThrough(words.filter((word) => !long.includes(word) || /[%_]/.test(word)));
  if (long.length === 0) return { from: 'desk_search s', ...rest };
  return {
    // In this order, so that it ends with the last one that is wanted.
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

/** Adds what these say to what their incidents are found by, as long as there is room. */
export async function storeSearch(sql: Sql, failures: readonly StoredFailure[]): Promise<void> {
  if (failures.length === 0) return;
  const groups = Map.groupBy(failures, ({ digest }) => digest);
  const digests = [...groups.keys()];
  const known = await sql.all<{ digest: string; text: string }>(
    `SELECT digest, text FROM desk_search WHERE digest IN (${placeholders(digests)})`,
    digests,
  );
  const texts = new Map(known.map(({ digest, text }) => [digest, text]));
  const rows = [...groups].flatMap(([digest, group]) => {
    const before = texts.get(digest);
    const text = group.map(listLines).reduce(addLines, before ?? '');
    return text === before ? [] : [{ digest, text }];
  });
  await insertRows(sql, 'desk_search', rows, 'ON CONFLICT (digest) DO UPDATE SET text = excluded.text');
}

/**
 * Rebuilds the text of an incident, from its own columns and the full records that are left.
 *
 * @param left the full records that are left, the oldest first
 */
export async function rebuildSearch(sql: Sql, digest: string, left: readonly StoredFailure[]): Promise<void> {
  const [facts] = await sql.all<Record<string, string | null>>(
    'SELECT digest, title, site_path, site_function, route FROM desk_incidents WHERE digest = ?',
    [digest],
  );
  if (!facts) return;
  const known = Object.values(facts).map((fact) => fact ?? '');
  const text = [known, ...left.map(listLines)].reduce(addLines, '');
  await sql.run('UPDATE desk_search SET text = ? WHERE digest = ?', [text, digest]);
}

function addLines(text: string, added: readonly string[]): string {
  const lines = new Set(text.split('\n').filter(Boolean));
  let length = text.length;
  for (const line of added) {
    const clean = toColumn(line.replace(/\s+/g, ' '), MAX_LINE).toLowerCase();
    if (clean === '' || lines.has(clean) || length + clean.length + 1 > MAX_TEXT) continue;
    if (isUrl(clean) && [...lines].filter(isUrl).length >= MAX_URLS) continue;
    lines.add(clean);
    length += clean.length + 1;
  }
  return [...lines].join('\n');
}

function isUrl(line: string): boolean {
  return line.startsWith('/') || /^https?:/.test(line);
}

/** What tells most of the incident first: later ones add what differs. */
function listLines({ digest, title, errors, site, route, resolved, request }: StoredFailure): string[] {
  return [
    digest,
    title,
    ...errors.map(({ message }) => message),
    ...(site ? [site.path, site.function] : []),
    route ?? '',
    request?.url ?? '',
    request?.headers?.['user-agent'] ?? '',
    ...errors.flatMap(({ frames }, index) =>
      (resolved?.[index] ?? frames).slice(0, MAX_FRAMES).map(({ file }) => file),
    ),
  ];
}
