import { createHmac } from 'node:crypto';
import { Minute } from '../../../shared/units.ts';
import type { CountRecord } from '../journal-entry.ts';
import { insertRows, placeholders, type Sql, type SqlDialect } from './sql.ts';
import type { Intake } from './tally.ts';

/**
 * Whom the desk was told to forget, by marks that name nobody: the hash of a visitor on a day, or the
 * keyed hash of an e-mail address. What a journal still holds of them when it is taken in is counted
 * and no more.
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
  const marks = [...visitors, ...(email === undefined ? [] : [toEmailMark(email, await readSalt(sql))])];
  await keepMarks(
    sql,
    marks.map((mark) => ({ mark, at: clock?.now ?? Date.now() })),
  );
}

async function keepMarks(sql: Sql, marks: readonly ForgottenMark[]): Promise<void> {
  await insertRows(
    sql,
    'desk_forgotten',
    ['mark', 'at'],
    marks.map(({ mark, at }) => [mark, at]),
    `ON CONFLICT (mark) DO UPDATE SET
      at = CASE WHEN excluded.at > desk_forgotten.at THEN excluded.at ELSE desk_forgotten.at END`,
  );
}

/** In the place of a failure of somebody who was forgotten, that it happened; what they said is left out. */
export async function withoutForgotten(sql: Sql, entries: readonly Intake[]): Promise<readonly Intake[]> {
  const some = await sql.all('SELECT 1 AS one FROM desk_forgotten LIMIT 1');
  if (some.length === 0) return entries;
  const salt = await readSalt(sql);
  const marksOf = new Map(entries.map((intake) => [intake, listMarks(intake, salt)]));
  const known = await readMarks(sql, [...new Set([...marksOf.values()].flat())]);
  return entries.flatMap((intake) => {
    const until = Math.max(...(marksOf.get(intake) ?? []).map((mark) => known.get(mark) ?? 0)) + CLOCK_SKEW;
    return toTime(intake) <= until ? toCount(intake) : [intake];
  });
}

/** What says who it was. */
function listMarks(intake: Intake, salt: string): string[] {
  switch (intake.entry) {
    case 'whole':
      return intake.failure.visitor === undefined ? [] : [intake.failure.visitor];
    case 'thin':
      return intake.thin.visitor === undefined ? [] : [intake.thin.visitor];
    case 'feedback': {
      const { visitor, email } = intake.feedback;
      return [...(visitor === undefined ? [] : [visitor]), ...(email === undefined ? [] : [toEmailMark(email, salt)])];
    }
    case 'count':
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
      return Number.POSITIVE_INFINITY;
  }
}

function toCount(intake: Intake): Intake[] {
  if (intake.entry === 'whole' && intake.failure.echoOf === undefined) {
    const { digest, side, kind, title, build, release, at } = intake.failure;
    return [toCountOf({ digest, side, kind, title, build, release, at })];
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

/** Of an address as it is typed: capitals do not count. It cannot be told from a visitor's hash, nor who it is. */
export function toEmailMark(email: string, salt: string): string {
  return `e-${createHmac('sha256', salt).update(email.trim().toLowerCase()).digest('base64url')}`;
}

async function readSalt(sql: Sql): Promise<string> {
  const [row] = await sql.all<{ value: string }>("SELECT value FROM desk_meta WHERE name = 'salt'");
  return row?.value ?? '';
}

/** All marks, and the salt that those of e-mail addresses were made with. */
export async function readForgotten(
  sql: Sql,
): Promise<{ readonly salt: string; readonly marks: readonly ForgottenMark[] }> {
  return { salt: await readSalt(sql), marks: await sql.all<ForgottenMark>('SELECT mark, at FROM desk_forgotten') };
}

/**
 * Forgets once more, in a transaction: an older backup knows whom the desk has been told to forget
 * since. With another salt the marks are another desk's, and name nobody here.
 */
export async function forgetAgain(
  sql: Sql,
  { salt, marks }: { readonly salt: string; readonly marks: readonly ForgottenMark[] },
): Promise<void> {
  if (marks.length === 0 || salt !== (await readSalt(sql))) return;
  await keepMarks(sql, marks);
  await sql.run(
    `DELETE FROM desk_wholes WHERE (digest, occurrence) IN
      (SELECT o.digest, o.occurrence FROM desk_occurrences o JOIN desk_forgotten g ON g.mark = o.visitor WHERE o.at <= g.at)`,
  );
  for (const table of ['desk_occurrences', 'desk_feedback']) {
    await sql.run(
      `DELETE FROM ${table} WHERE EXISTS
        (SELECT 1 FROM desk_forgotten g WHERE g.mark = ${table}.visitor AND ${table}.at <= g.at)`,
    );
  }
  await forgetEmails(sql, new Map(marks.map(({ mark, at }) => [mark, at])), salt);
}

async function forgetEmails(sql: Sql, marks: ReadonlyMap<string, number>, salt: string): Promise<void> {
  const rows = await sql.all<{ id: string; email: string; at: number }>(
    'SELECT id, email, at FROM desk_feedback WHERE email IS NOT NULL',
  );
  for (const { id, email, at } of rows) {
    const until = marks.get(toEmailMark(email, salt));
    if (until !== undefined && at <= until) await sql.run('DELETE FROM desk_feedback WHERE id = ?', [id]);
  }
}
