import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { unpackBytes, unpackJson } from '../../src/server/desk/store/occurrences/pack.ts';
import type { SqlDriver, SqlValue } from '../../src/server/desk/store/sql.ts';

/** Bytes that left the process, and whose they are. */
export interface Leftover {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Characters that are enough to know a secret by: half of one is one too. */
const TELLTALE_LENGTH = 10;

/**
 * Twenty-four letters that stand nowhere else, the same for the same name. They have no shape that a
 * pattern knows and no digit, so that nothing but their name or their value can give them away.
 */
export function toCanary(name: string): string {
  const hex = createHash('sha256').update(`canary ${name}`).digest('hex').slice(0, 24);
  return [...hex].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
}

/** Where canaries, or the halves of one, stand: `log: bearer …words around it…`. Empty where nothing leaked. */
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
  if (/^\d+$/.test(canary)) return [canary, base64]; // half of a card's number may be any number
  return [canary.slice(0, TELLTALE_LENGTH), canary.slice(-TELLTALE_LENGTH), base64];
}

/** Every file below a folder, byte for byte. */
export function readFolder(folder: string): Leftover[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const path = join(entry.parentPath, entry.name);
    try {
      return [{ name: path.slice(folder.length + 1), bytes: readFileSync(path) }];
    } catch {
      return []; // taken in and dropped meanwhile
    }
  });
}

/** Every column of every row of a store, bytes both as they are and unpacked: `desk_wholes.data`. */
export async function readTables(driver: SqlDriver): Promise<Leftover[]> {
  const tables = await driver.all<{ name: string }>(
    driver.dialect.name === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
      : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  const packed = await driver.all<{ digest: string; data: Uint8Array }>('SELECT digest, data FROM desk_dictionaries');
  const dictionaries = new Map(packed.map(({ digest, data }) => [digest, unpackBytes(data)]));
  const leftovers: Leftover[] = [];
  for (const { name } of tables) {
    for (const row of await driver.all<Record<string, SqlValue>>(`SELECT * FROM "${name}"`)) {
      const dictionary = dictionaries.get(String(row.digest));
      for (const [column, value] of Object.entries(row)) {
        const where = `${name}.${column}`;
        leftovers.push({ name: where, bytes: Buffer.from(value instanceof Uint8Array ? value : String(value)) });
        if (value instanceof Uint8Array) leftovers.push(...unpack(where, value, dictionary));
      }
    }
  }
  return leftovers;
}

/** What is packed in the columns of a store: whole occurrences, lines of source. */
export function readPacked(file: string): Leftover[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const dictionaries = readDictionaries(database);
    return tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT * FROM "${name}"`)
        .all()
        .flatMap((row) => {
          const dictionary = dictionaries.get(String(row.digest));
          return Object.entries(row).flatMap(([column, value]) =>
            value instanceof Uint8Array ? unpack(`${name}.${column}`, value, dictionary) : [],
          );
        }),
    );
  } finally {
    database.close();
  }
}

/** By digest: what its whole occurrences are packed against. */
function readDictionaries(database: DatabaseSync): ReadonlyMap<string, Uint8Array> {
  const rows = database.prepare('SELECT digest, data FROM desk_dictionaries').all();
  return new Map(rows.map(({ digest, data }) => [String(digest), unpackBytes(data as Uint8Array)]));
}

function unpack(name: string, bytes: Uint8Array, dictionary: Uint8Array | undefined): Leftover[] {
  const whole = dictionary && unpackJson(bytes, dictionary);
  if (whole !== undefined) return [{ name, bytes: Buffer.from(JSON.stringify(whole)) }];
  try {
    return [{ name, bytes: Buffer.from(unpackBytes(bytes)) }];
  } catch {
    return []; // a salt is not packed
  }
}
