import type { SqlValue } from './sql.ts';

/** The first line of a backup. */
export interface BackupHeader {
  readonly format: typeof BACKUP_FORMAT;
  /** Of the format. */
  readonly version: number;
  /** Of the store. */
  readonly schema: number;
  /** When it was made (ms since 1970). */
  readonly at: number;
}

export const BACKUP_FORMAT = 'spillway desk backup';
export const BACKUP_VERSION = 1;

/** A line of a backup: the header, then for each table that has rows its columns and its rows, and at the end how many there were. */
export type BackupLine =
  | { readonly is: 'header'; readonly header: BackupHeader }
  | { readonly is: 'table'; readonly table: string; readonly columns: readonly string[] }
  | { readonly is: 'row'; readonly row: readonly SqlValue[] }
  /** By table. */
  | { readonly is: 'end'; readonly counts: Readonly<Record<string, number>> };

/** One line of JSON: both databases read it, and so does `gunzip -c … | jq`. */
export function writeBackupLine(line: BackupLine): string {
  switch (line.is) {
    case 'header':
      return JSON.stringify(line.header);
    case 'table':
      return JSON.stringify({ table: line.table, columns: line.columns });
    case 'row':
      return JSON.stringify(line.row.map(toJson));
    case 'end':
      return JSON.stringify({ end: line.counts });
  }
}

/** @returns undefined where it is no line of a backup */
export function readBackupLine(text: string): BackupLine | undefined {
  const value = parse(text);
  if (Array.isArray(value)) {
    const row = value.map(fromJson);
    return row.every((cell) => cell !== undefined) ? { is: 'row', row } : undefined;
  }
  if (!isObject(value)) return undefined;
  if (value.format === BACKUP_FORMAT) return isHeader(value) ? { is: 'header', header: value } : undefined;
  if (typeof value.table === 'string') {
    const { table, columns } = value;
    const areNames = Array.isArray(columns) && columns.every(isName);
    return areNames ? { is: 'table', table, columns } : undefined;
  }
  if (isObject(value.end) && Object.values(value.end).every(Number.isSafeInteger)) {
    return { is: 'end', counts: value.end as Record<string, number> };
  }
  return undefined;
}

function toJson(value: SqlValue): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
}

function fromJson(value: unknown): SqlValue | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return isObject(value) && typeof value.bytes === 'string' ? Buffer.from(value.bytes, 'base64') : undefined;
}

function isHeader(value: Record<string, unknown>): value is Record<string, unknown> & BackupHeader {
  return [value.version, value.schema, value.at].every(Number.isSafeInteger);
}

/** It goes into a statement. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z_]{1,60}$/.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
