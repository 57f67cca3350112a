import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { SqlDriver, SqlValue } from '../../../src/desk/server/store/sql.ts';

/** Bytes that the process left behind, with their source. */
export interface Leftover {
  readonly name: string;
  readonly bytes: Buffer;
}

/** How many characters identify a secret. Half a secret counts as a leak too. */
const TELLTALE_LENGTH = 10;

/**
 * Returns 24 letters that occur nowhere else, the same ones for the same name. They contain no digits and match no
 * pattern of the scrubber, so it can recognize them only by their name or their value.
 */
export function toCanary(name: string): string {
  const hex = createHash('sha256').update(`canary ${name}`).digest('hex').slice(0, 24);
  return [...hex].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
}

/** Finds canaries, or halves of them: `log: bearer …surrounding text…`. Empty if nothing leaked. */
export function findCanaries(canaries: Readonly<Record<string, string>>, leftovers: readonly Leftover[]): string[] {
  const telltales = Object.entries(canaries).flatMap(([name, canary]) =>
    toTelltales(canary).map((telltale) => ({ name, telltale })),
  );
  return leftovers.flatMap(({ name: where, bytes }) =>
    telltales.flatMap(({ name, telltale }) => {
      const at = bytes.indexOf(telltale);
      return at < 0 ? [] : [`${where}: ${name} …${bytes.toString('latin1', Math.max(0, at - 80), at + 60)}…`];
    }),
  );
}

function toTelltales(canary: string): string[] {
  const base64 = Buffer.from(canary).toString('base64').replace(/=+$/, '');
  if (/^\d+$/.test(canary)) return [canary, base64]; // half of a card number can be any number
  return [canary.slice(0, TELLTALE_LENGTH), canary.slice(-TELLTALE_LENGTH), base64];
}

/** Reads every file in a folder. */
export function readFolder(folder: string): Leftover[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const path = join(entry.parentPath, entry.name);
    try {
      return [{ name: path.slice(folder.length + 1), bytes: readFileSync(path) }];
    } catch {
      return []; // ingested and deleted since the folder was listed
    }
  });
}

/** Reads every column of every row of a store, bytes both as stored and unpacked: `desk_wholes.data`. */
export async function readTables(driver: SqlDriver): Promise<Leftover[]> {
  const tables = await driver.all<{ name: string }>(
    driver.dialect.name === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
      : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  const leftovers: Leftover[] = [];
  for (const { name } of tables) {
    for (const row of await driver.all<Record<string, SqlValue>>(`SELECT * FROM "${name}"`)) {
      for (const [column, value] of Object.entries(row)) leftovers.push(...unpack(`${name}.${column}`, value));
    }
  }
  return leftovers;
}

function unpack(name: string, value: SqlValue): Leftover[] {
  if (!(value instanceof Uint8Array)) return [{ name, bytes: Buffer.from(String(value)) }];
  const stored = { name, bytes: Buffer.from(value) };
  try {
    return [stored, { name, bytes: zstdDecompressSync(value) }];
  } catch {
    return [stored]; // not compressed
  }
}
