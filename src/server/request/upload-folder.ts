import { readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hour, MiB } from '../../shared/units.ts';
import { MIN_FREE_DISK } from '../limits.ts';

/** The folder of all processes. Each has a folder in it, named by its id. */
let uploads = join(tmpdir(), 'spillway-uploads');
let minFree = MIN_FREE_DISK;

/**
 * Keeps the files of forms below the data folder from here on, because the folder for temporary files is often in memory
 * or read-only. Removes what killed processes have left an hour ago. A process that still drains keeps its files, also in
 * another container, where its id says nothing.
 *
 * @param free what is left free on the disk (bytes)
 */
export function openUploads(dataDir: string, free = MIN_FREE_DISK): void {
  uploads = join(dataDir, 'uploads');
  minFree = free;
  for (const name of listNames(uploads)) {
    if (isLeft(name)) removeFolder(join(uploads, name));
  }
  process.off('exit', removeOwnFolder).once('exit', removeOwnFolder);
}

/** Creates a folder for the files of one form. */
export async function createUploadFolder(): Promise<string> {
  await mkdir(toOwnFolder(), { recursive: true, mode: 0o700 });
  return mkdtemp(join(toOwnFolder(), 'form-'));
}

/** @throws Error if the disk is almost full. It is a failure, because operators must free space */
export async function requireSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= minFree) return;
  throw new Error(`A file was not received, because its disk has less than ${minFree / MiB} MiB free (DATA_DIR).`);
}

function toOwnFolder(): string {
  return join(uploads, String(process.pid));
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there were no uploads yet
  }
}

function isLeft(name: string): boolean {
  const { mtimeMs = 0 } = statSync(join(uploads, name), { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > Hour && (Number(name) === process.pid || !isRunning(Number(name)));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // or it is another user's, whose folder cannot be removed
  }
}

function removeOwnFolder(): void {
  removeFolder(toOwnFolder());
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It does not stop the start.
  }
}
