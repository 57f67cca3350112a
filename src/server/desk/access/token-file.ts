import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface KeptToken {
  readonly token: string;
  /** Whether this call created it. */
  readonly isNew: boolean;
}

/**
 * Returns the operator's token for servers without OPERATOR_TOKEN. Creates it at the first start, in a file of the data
 * folder that only its owner can read.
 *
 * @throws the system's error if the folder cannot be read or written
 */
export function keepToken(dataDir: string): KeptToken {
  const file = join(dataDir, 'desk-token');
  const kept = readKept(file);
  if (kept) return { token: kept, isNew: false };
  const token = randomBytes(24).toString('base64url');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // An empty file is left by an interrupted start.
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: kept === undefined ? 'wx' : 'w' });
  return { token, isNew: true };
}

/** Returns an existing token. @returns undefined if there is none */
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
