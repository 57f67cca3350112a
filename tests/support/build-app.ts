import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toStamp } from '../../build/stamp.mjs';
import { build } from '../../build.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const kept = join(project, 'node_modules/.cache/spillway/apps');
/** The builds of all tests, and a few from earlier versions (a count). Each takes about 26 MB. */
const KEPT_BUILDS = 24;

/**
 * Builds a copy of the project, as `node build.mjs` would. If another file or an earlier run has built the same
 * sources, this copy gets that `dist`.
 */
export async function buildApp(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  const known = join(kept, toKey(folder));
  if (!existsSync(dist) && copyWhole(known, dist)) return;
  await build({ root: folder, log: () => undefined });
  if (!existsSync(known)) keep(dist, known);
}

/** Identifies the input of a build: the stamp covers the sources, the lockfile covers the packages. */
function toKey(folder: string): string {
  const lockfile = readFileSync(join(project, 'package-lock.json'));
  const others = [toStamp(folder, { dev: false }), process.version];
  return createHash('sha256').update(others.join('\0')).update(lockfile).digest('hex');
}

function copyWhole(from: string, to: string): boolean {
  try {
    cpSync(from, to, { recursive: true });
    return true;
  } catch {
    // It does not exist, or another process is removing it.
    rmSync(to, { recursive: true, force: true });
    return false;
  }
}

/** Stores a build with one rename, because other processes can read it at the same time. Deletes the oldest builds. */
function keep(dist: string, known: string): void {
  const copy = `${known}.${process.pid}`;
  mkdirSync(kept, { recursive: true });
  cpSync(dist, copy, { recursive: true });
  try {
    renameSync(copy, known);
  } catch {
    // Another process was faster.
    rmSync(copy, { recursive: true });
  }
  const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const paths = readdirSync(kept).map((name) => join(kept, name));
  const byAge = paths.toSorted((one, other) => timeOf(other) - timeOf(one));
  for (const path of byAge.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
