import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../start-error.ts';
import type { Tracker } from '../tracker/tracker.ts';

/** Thrown when the data folder, or a file in it, is not writable. The message says what to do. */
export class UnwritableFolderError extends StartError {
  constructor(place: string, code: string) {
    const user = process.getuid?.();
    const who = user === undefined ? 'this user' : `this user (number ${user})`;
    super(`${place} cannot be written to (${code}). Let ${who} write there, or set DATA_DIR to another folder.`);
  }
}

/** What the tracker writes into the data folder: a folder that the start creates, and files. Services can write too. */
type WrittenFiles = Tracker['files'];

const NOTHING: WrittenFiles = { folder: '', files: [] };

/**
 * Errors that do not mean a full disk: a wrong owner, a read-only mount, a file in place of a folder, a system's folder
 * such as `/proc`, or a path that cannot exist.
 */
const REFUSALS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT', 'ELOOP', 'ENAMETOOLONG']);

/**
 * Creates the folder. Call it before anything is stored there. A full disk does not stop the start: space can become
 * free later, and pages do not need the disk.
 *
 * @throws UnwritableFolderError if this user cannot write to the folder, or to files that another user left in it
 */
export function requireDataFolder(dataDir: string, written = NOTHING): void {
  orRefuse(`The folder ${dataDir} (DATA_DIR)`, () => {
    mkdirSync(join(dataDir, written.folder), { recursive: true, mode: 0o700 });
    requireAccess(dataDir, written);
  });
}

/**
 * Checks the same and leaves nothing behind. If the folder does not exist yet, it checks the nearest parent that does.
 *
 * @throws UnwritableFolderError
 */
export function requireWritable(dataDir: string, written = NOTHING): void {
  orRefuse(`The folder ${dataDir} (DATA_DIR)`, () => {
    requireAccess(dataDir, written);
    // `/proc` gives root access, but no folder can be created there.
    rmdirSync(mkdtempSync(join(findExisting(dataDir), 'check-')));
  });
}

/** Returns the folder or its nearest existing parent. @param path absolute */
export function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

function requireAccess(dataDir: string, { folder, files }: WrittenFiles): void {
  // `/.` makes a file fail with ENOTDIR.
  accessSync(`${findExisting(dataDir)}/.`, constants.W_OK);
  for (const path of [folder, ...files].map((name) => join(dataDir, name))) {
    // For example a backup that root put there.
    if (existsSync(path)) orRefuse(`${path} (in DATA_DIR)`, () => accessSync(path, constants.W_OK));
  }
}

function orRefuse(place: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof UnwritableFolderError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (REFUSALS.has(code)) throw new UnwritableFolderError(place, code);
  }
}
