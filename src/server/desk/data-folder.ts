import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder that refuses what is to be kept in it: its text says what to do. */
export class UnwritableFolderError extends Error {
  constructor(dataDir: string, code: string) {
    const user = process.getuid?.();
    const who = user === undefined ? 'this user' : `this user (number ${user})`;
    super(
      `The folder ${dataDir} (DATA_DIR) cannot be written to (${code}). Let ${who} write there, or set DATA_DIR to another folder.`,
    );
    this.name = 'UnwritableFolderError';
  }
}

/** What a disk with room on it answers too: the wrong owner, a read-only mount, a file in the place of a folder. */
const REFUSALS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/**
 * Makes the folder, to be called before anything is kept in it. A full disk is no reason not to start:
 * it may have room again, and pages are served without it.
 *
 * @throws UnwritableFolderError where this user may not write to it, or to what another user left there
 */
export function requireDataFolder(dataDir: string): void {
  orRefuse(dataDir, () => {
    mkdirSync(join(dataDir, 'journal'), { recursive: true, mode: 0o700 });
    requireAccess(dataDir);
  });
}

/**
 * The same without making anything: where there is no folder yet, the one that it would be made in counts.
 *
 * @throws UnwritableFolderError
 */
export function requireWritable(dataDir: string): void {
  orRefuse(dataDir, () => requireAccess(dataDir));
}

/** The folder, or of those around it the nearest one that is there. @param path absolute */
export function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

function requireAccess(dataDir: string): void {
  const written = ['journal', 'instance.lock', 'desk.sqlite'].map((name) => join(dataDir, name));
  // Behind a file there is no such place (ENOTDIR).
  accessSync(`${findExisting(dataDir)}/.`, constants.W_OK);
  for (const path of written) if (existsSync(path)) accessSync(path, constants.W_OK);
}

function orRefuse(dataDir: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (REFUSALS.has(code)) throw new UnwritableFolderError(dataDir, code);
  }
}
