import { KIND_WORDS } from '../../shared/choices.ts';
import type { IncidentKey } from './incident-key.ts';
import type { StoredFailure } from './records.ts';
import { placeholders, type Sql, type SqlValue, toColumn } from './sql.ts';

/** The length of an incident's search text (characters). It has room for some different URLs and user agents. */
const MAX_SEARCH_TEXT = 2500;
/** The length of one of its lines (characters). */
const MAX_SEARCH_LINE = 300;
/** The number of frames of each error whose files are in it. */
const MAX_SEARCH_FRAMES = 10;
/** The number of words that a search uses, and the length of each (characters). */
const MAX_WORDS = 8;
const MAX_WORD = 100;

/** A condition on an incident `i`, and its values. */
export type Condition = readonly [text: string, ...values: readonly SqlValue[]];

/**
 * Returns conditions for incidents whose text contains all words. The text is in lower case, which both databases compare
 * alike. Words match parts of the text and are never patterns.
 */
export function toSearchConditions(search: string): Condition[] {
  return toWords(search).map((word) => ["i.search LIKE ? ESCAPE '\\'", `%${word.replace(/[\\%_]/g, '\\$&')}%`]);
}

function toWords(search: string): string[] {
  const words = toColumn(search).toLowerCase().split(/\s+/).filter(Boolean);
  return words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD).toWellFormed());
}

/** Adds lines from these failures to the search texts of their incidents, as far as there is room. */
export async function storeSearch(
  sql: Sql,
  failures: readonly { readonly key: IncidentKey; readonly failure: StoredFailure }[],
): Promise<void> {
  if (failures.length === 0) return;
  const groups = Map.groupBy(failures, ({ key }) => key);
  const known = await sql.all<{ key: IncidentKey; search: string }>(
    `SELECT key, search FROM desk_incidents WHERE key IN (${placeholders([...groups.keys()])}) ORDER BY key`,
    [...groups.keys()],
  );
  for (const { key, search } of known) {
    const text = (groups.get(key) ?? []).map(({ failure }) => listLines(failure)).reduce(addLines, search);
    if (text !== search) await sql.run('UPDATE desk_incidents SET search = ? WHERE key = ?', [text, key]);
  }
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
  await sql.run('UPDATE desk_incidents SET search = ? WHERE key = ?', [text, key]);
}

function addLines(text: string, added: readonly string[]): string {
  const lines = new Set(text.split('\n').filter(Boolean));
  let length = text.length;
  for (const line of added) {
    const clean = toColumn(line.replace(/\s+/g, ' '), MAX_SEARCH_LINE).toLowerCase();
    if (clean === '' || lines.has(clean) || length + clean.length + 1 > MAX_SEARCH_TEXT) continue;
    lines.add(clean);
    length += clean.length + 1;
  }
  return [...lines].join('\n');
}

/** Lists the search lines of a failure, the most specific first. Later failures add only lines that differ. */
function listLines(failure: StoredFailure): string[] {
  const { digest, kind, title, errors, location, route, resolved, request, level, tags = {} } = failure;
  return [
    digest,
    title,
    // Pages show it in the title.
    ...(title.startsWith(kind) ? [KIND_WORDS[kind]] : []),
    ...errors.map(({ message }) => message),
    ...(location ? [location.path, location.function] : []),
    route ?? '',
    level ? `level:${level}` : '',
    ...Object.entries(tags).map(([name, value]) => `tag:${name}=${value}`),
    request?.url ?? '',
    request?.headers?.['user-agent'] ?? '',
    ...errors.flatMap(({ frames }, index) =>
      (resolved?.[index] ?? frames).slice(0, MAX_SEARCH_FRAMES).map(({ file }) => file),
    ),
  ];
}
