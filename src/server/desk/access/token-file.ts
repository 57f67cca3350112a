import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface KeptToken {
  readonly token: string;
  /** It was made by this call: nobody can know it yet. */
  readonly isNew: boolean;
}

/**
 * The operator's token where no setting names one: made at the first start, in a file of the data
 * folder that its owner alone may read.
 *
 * @throws the system's error where the folder cannot be read or written
 */
export function keepToken(dataDir: string): KeptToken {
  const file = join(dataDir, 'desk-token');
  const kept = readKept(file);
  if (kept) return { token: kept, isNew: false };
  const token = randomBytes(24).toString('base64url');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // An empty file is what is left of a start that was cut short.
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: kept === undefined ? 'wx' : 'w' });
  return { token, isNew: true };
}

/** The same where it was made before. @returns undefined where there is none */
export function readKeptToken(dataDir: string): string | undefined {
  return readKept(join(dataDir, 'desk-token')) || undefined;
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
