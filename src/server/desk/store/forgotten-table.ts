import { createHmac } from 'node:crypto';
import { Minute } from '../../../shared/units.ts';
import type { CountRecord } from '../ingest/journal-entry.ts';
import { listSecrets, useMarkKey } from './secret-table.ts';
import { insertRows, placeholders, type Sql, type SqlDialect } from './sql.ts';
import type { Intake } from './tally.ts';

/**
 * A deletion mark: the keyed hash of a visitor's hash or of an email, which identifies no one. Entries
 * of the visitor that are still in a journal are only counted, and a restore deletes the visitor again.
 */
export interface ForgottenMark {
  readonly mark: string;
  /** When it was asked for (ms since 1970): what happens later is kept. */
  readonly at: number;
}

/** The clocks of replicas differ by less (ms). */
const CLOCK_SKEW = 1 * Minute;

/** Marks that one statement asks for (a count). */
const MARKS_AT_ONCE = 500;

/** In a transaction. */
export async function storeForgotten(
  sql: Sql,
  dialect: SqlDialect,
  { visitors, email }: { readonly visitors: readonly string[]; readonly email?: string },
): Promise<void> {
  const [clock] = await sql.all<{ now: number }>(`SELECT ${dialect.now} AS now`);
  const key = await useMarkKey(sql, dialect);
  const marks = [
    ...visitors.map((visitor) => toMark(key, 'visitor', visitor)),
    ...(email === undefined ? [] : [toMark(key, 'email', email)]),
  ];
  await putMarks(
    sql,
    marks.map((mark) => ({ mark, at: clock?.now ?? Date.now() })),
  );
}

/** Adds marks. Of two that are the same the later one counts. */
export async function putMarks(sql: Sql, marks: readonly ForgottenMark[]): Promise<void> {
  await insertRows(
    sql,
    'desk_forgotten',
    ['mark', 'at'],
    marks.map(({ mark, at }) => [mark, at]),
    `ON CONFLICT (mark) DO UPDATE SET
      at = CASE WHEN excluded.at > desk_forgotten.at THEN excluded.at ELSE desk_forgotten.at END`,
  );
}

export function listForgotten(sql: Sql): Promise<ForgottenMark[]> {
  return sql.all<ForgottenMark>('SELECT mark, at FROM desk_forgotten ORDER BY mark');
}

/** Makes all marks under which a visitor or an email may be found. */
export interface ToMarks {
  ofVisitor(visitor: string): string[];
  ofEmail(email: string): string[];
}

export async function createToMarks(sql: Sql): Promise<ToMarks> {
  const secrets = await listSecrets(sql);
  const listOf = (wanted: string) => secrets.filter(({ name }) => name === wanted).map(({ secret }) => secret);
  const [keys, old] = [listOf('mark'), listOf('old')];
  return {
    // Releases before schema 10 stored the visitor's hash itself, and emails hashed with their salt.
    ofVisitor: (visitor) => [visitor, ...keys.map((key) => toMark(key, 'visitor', visitor))],
    ofEmail: (email) => [
      ...keys.map((key) => toMark(key, 'email', email)),
      ...old.map((salt) => `e-${toHmac(salt, normalizeEmail(email))}`),
    ],
  };
}

function toMark(key: string, what: 'visitor' | 'email', text: string): string {
  return toHmac(key, `${what} ${what === 'email' ? normalizeEmail(text) : text}`);
}

function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

function toHmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Replaces failures of visitors who were forgotten by the fact that they happened. What they said is left out. */
export async function withoutForgotten(sql: Sql, entries: readonly Intake[]): Promise<readonly Intake[]> {
  const some = await sql.all('SELECT 1 AS one FROM desk_forgotten LIMIT 1');
  if (some.length === 0) return entries;
  const toMarks = await createToMarks(sql);
  const marksOf = new Map(entries.map((intake) => [intake, listMarks(intake, toMarks)]));
  const known = await readMarks(sql, [...new Set([...marksOf.values()].flat())]);
  return entries.flatMap((intake) => {
    const until = Math.max(...(marksOf.get(intake) ?? []).map((mark) => known.get(mark) ?? 0)) + CLOCK_SKEW;
    return toTime(intake) <= until ? toCount(intake) : [intake];
  });
}

/** All marks that the visitor or the author of an entry may have. */
function listMarks(intake: Intake, { ofVisitor, ofEmail }: ToMarks): string[] {
  switch (intake.entry) {
    case 'whole':
      return intake.failure.visitor === undefined ? [] : ofVisitor(intake.failure.visitor);
    case 'thin':
      return intake.thin.visitor === undefined ? [] : ofVisitor(intake.thin.visitor);
    case 'feedback': {
      const { visitor, email } = intake.feedback;
      return [...(visitor === undefined ? [] : ofVisitor(visitor)), ...(email === undefined ? [] : ofEmail(email))];
    }
    case 'count':
    case 'salt':
      return [];
  }
}

async function readMarks(sql: Sql, marks: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const known = new Map<string, number>();
  for (let start = 0; start < marks.length; start += MARKS_AT_ONCE) {
    const some = marks.slice(start, start + MARKS_AT_ONCE);
    const rows = await sql.all<ForgottenMark>(
      `SELECT mark, at FROM desk_forgotten WHERE mark IN (${placeholders(some)})`,
      some,
    );
    for (const { mark, at } of rows) known.set(mark, at);
  }
  return known;
}

function toTime(intake: Intake): number {
  switch (intake.entry) {
    case 'whole':
      return intake.failure.at;
    case 'thin':
      return intake.thin.at;
    case 'feedback':
      return intake.feedback.at;
    case 'count':
    case 'salt':
      return Number.POSITIVE_INFINITY;
  }
}

/** Without the title, which has the words of the message. */
function toCount(intake: Intake): Intake[] {
  if (intake.entry === 'whole' && intake.failure.echoOf === undefined) {
    const { digest, side, kind, errors, build, release, at } = intake.failure;
    return [toCountOf({ digest, side, kind, title: errors[0]?.class ?? kind, build, release, at })];
  }
  if (intake.entry === 'thin') {
    const { digest, side, build, release, at } = intake.thin;
    return [toCountOf({ digest, side, kind: 'exception', title: '', build, release, at })];
  }
  return [];
}

function toCountOf({ at, ...of }: Omit<CountRecord, 'firstAt' | 'lastAt' | 'count'> & { readonly at: number }): Intake {
  return { entry: 'count', record: { ...of, firstAt: at, lastAt: at, count: 1 } };
}
