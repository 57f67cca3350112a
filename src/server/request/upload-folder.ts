import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hour, MiB } from '../../shared/units.ts';
import { MIN_FREE_DISK } from '../limits.ts';

/** The folder of all processes. Each has a folder in it. */
let uploads = join(tmpdir(), 'spillway-uploads');
let minFree = MIN_FREE_DISK;

/** Not the id of the process, because in each container it is 1. */
const ownName = randomUUID();

/** If a folder has got no form for so long, its process counts as killed (ms). */
const MAX_UPLOAD_AGE = 1 * Hour;
let removal: NodeJS.Timeout | undefined;

/**
 * Keeps the files of forms below the data folder from here on, because the folder for temporary files is often in memory
 * or read-only. Removes what killed processes have left, now and in an hour.
 *
 * @param free what is left free on the disk (bytes)
 */
export function openUploads(dataDir: string, free = MIN_FREE_DISK): void {
  uploads = join(dataDir, 'uploads');
  minFree = free;
  void removeLeft();
  clearTimeout(removal);
  removal = setTimeout(() => void removeLeft(), MAX_UPLOAD_AGE).unref();
  process.off('exit', removeOwnFolder).once('exit', removeOwnFolder);
}

async function removeLeft(): Promise<void> {
  const names = await readdir(uploads).catch(() => []);
  for (const folder of names.map((name) => join(uploads, name))) {
    const found = await stat(folder).catch(() => undefined);
    const age = found ? Date.now() - found.mtimeMs : 0;
    if (folder === toOwnFolder() || age < MAX_UPLOAD_AGE) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined); // perhaps another user's
  }
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
  return join(uploads, ownName);
}

function removeOwnFolder(): void {
  try {
    rmSync(toOwnFolder(), { recursive: true, force: true });
  } catch {
    // The next process removes it.
  }
}
