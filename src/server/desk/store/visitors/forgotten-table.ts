import { createHmac } from 'node:crypto';
import { Minute } from '../../../../shared/units.ts';
import type { CountRecord } from '../../ingest/journal-entry.ts';
import type { Intake } from '../ingest/tally.ts';
import { exists, inParts, insertRows, placeholders, readClock, type Sql } from '../sql.ts';
import { listSecrets, useMarkKey } from './secret-table.ts';

/**
 * A deletion mark: the keyed hash of a visitor's hash or of an email, which does not identify the visitor.
 * Journal entries with a mark are only counted, and a restore deletes the visitor again.
 */
export interface ForgottenMark {
  readonly mark: string;
  /** When the deletion was requested (ms since 1970). Later entries are kept. */
  readonly at: number;
}

/** The largest expected difference between the clocks of replicas (ms). */
const CLOCK_SKEW = 1 * Minute;

/** Stores the deletion marks of a visitor, in a transaction. */
export async function storeForgotten(
  sql: Sql,
  { visitors, email }: { readonly visitors: readonly string[]; readonly email?: string },
): Promise<void> {
  const at = await readClock(sql);
  const key = await useMarkKey(sql);
  const marks = [
    ...visitors.map((visitor) => toMark(key, 'visitor', visitor)),
    ...(email === undefined ? [] : [toMark(key, 'email', email)]),
  ];
  await putMarks(
    sql,
    marks.map((mark) => ({ mark, at })),
  );
}

/** Adds marks. If a mark exists, the later time counts. */
export async function putMarks(sql: Sql, marks: readonly ForgottenMark[]): Promise<void> {
  await insertRows(
    sql,
    'desk_forgotten',
    marks.map(({ mark, at }) => ({ mark, at })),
    `ON CONFLICT (mark) DO UPDATE SET
      at = CASE WHEN excluded.at > desk_forgotten.at THEN excluded.at ELSE desk_forgotten.at END`,
  );
}

export function listForgotten(sql: Sql): Promise<ForgottenMark[]> {
  return sql.all<ForgottenMark>('SELECT mark, at FROM desk_forgotten ORDER BY mark');
}

/** The visitor and time (ms since 1970) of an entry or row. */
export interface Traced {
  readonly visitor?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly at: number;
}

/** Returns a function that lists all marks that match a visitor or an email. */
export async function createToMarks(sql: Sql): Promise<(of: Traced) => string[]> {
  const secrets = await listSecrets({ driver: sql });
  const listOf = (wanted: string) => secrets.filter(({ name }) => name === wanted).map(({ secret }) => secret);
  const [keys, old] = [listOf('mark'), listOf('old')];
  return ({ visitor, email }) => [
    // Releases before schema 10 stored the visitor's hash itself, and emails hashed with their salt.
    ...(visitor ? [visitor, ...keys.map((key) => toMark(key, 'visitor', visitor))] : []),
    ...(email ? keys.map((key) => toMark(key, 'email', email)) : []),
    ...(email ? old.map((salt) => `e-${toHmac(salt, normalizeEmail(email))}`) : []),
  ];
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

/** Reduces failures of deleted visitors to counts, and leaves out their feedback. */
export async function withoutForgotten(sql: Sql, entries: readonly Intake[]): Promise<readonly Intake[]> {
  if (!(await exists(sql, 'SELECT 1 FROM desk_forgotten'))) return entries;
  const toMarks = await createToMarks(sql);
  const traced = entries.map((intake) => ({ intake, of: toTraced(intake) }));
  const known = await readMarks(sql, [...new Set(traced.flatMap(({ of }) => (of ? toMarks(of) : [])))]);
  return traced.flatMap(({ intake, of }) => {
    if (!of) return [intake];
    const until = Math.max(...toMarks(of).map((mark) => known.get(mark) ?? 0)) + CLOCK_SKEW;
    return of.at <= until ? toCount(intake) : [intake];
  });
}

/** @returns undefined for an entry without a visitor or email */
function toTraced(intake: Intake): Traced | undefined {
  if (intake.entry === 'whole') return intake.failure;
  if (intake.entry === 'thin') return intake.thin;
  return intake.entry === 'feedback' ? intake.feedback : undefined;
}

async function readMarks(sql: Sql, marks: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const known = new Map<string, number>();
  for (const some of inParts(marks)) {
    const rows = await sql.all<ForgottenMark>(
      `SELECT mark, at FROM desk_forgotten WHERE mark IN (${placeholders(some)})`,
      some,
    );
    for (const { mark, at } of rows) known.set(mark, at);
  }
  return known;
}

/** Turns an entry into a count, without the title, which contains the message. */
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
