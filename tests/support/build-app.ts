import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { createCache } from '../../build/cache.mjs';
import { readFiles } from '../../build/files.mjs';
import { toStamp } from '../../build/stamp.mjs';
import { build } from '../../build.mjs';
import { MiB } from '../../src/shared/units.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
/** Each file is stored once, because most are the same in all builds: each build adds about 2 MB. */
const cache = createCache('apps', { maxBytes: 48 * MiB });

/**
 * Builds a copy of the project, as `node build.mjs` would. If another file or an earlier run has built the same
 * sources, this copy gets that `dist`.
 */
export async function buildApp(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  // A build into an earlier one keeps its assets.
  if (existsSync(dist)) return build({ root: folder, log: () => undefined });
  const key = toKey(folder);
  if (await restore(key, dist)) return;
  await build({ root: folder, log: () => undefined });
  await store(key, dist);
}

/** Identifies the input of a build: the stamp covers the sources, the lockfiles cover the packages. */
function toKey(folder: string): string {
  const lockfiles = ['', 'tests/recipes/packages'].map((path) => join(project, path, 'package-lock.json'));
  const locked = lockfiles.map((file) => readFileSync(file, 'utf8'));
  return hash('sha256', [toStamp(folder), process.version, ...locked].join('\0'));
}

async function store(key: string, dist: string): Promise<void> {
  const files = await readFiles(dist);
  const compressed = new Set(files.filter(({ path }) => path.endsWith('.zst')).map(({ path }) => path));
  const stored = await Promise.all(
    files
      .filter(({ path }) => !compressed.has(`${path}.zst`))
      .map(async ({ path, contents }) => {
        const name = hash('sha256', contents);
        if (!(await cache.read(name))) await cache.write(name, contents);
        return [path, name];
      }),
  );
  await cache.write(key, stored);
}

/** @returns whether the whole build is in the cache */
async function restore(key: string, dist: string): Promise<boolean> {
  const stored: [path: string, name: string][] = (await cache.read(key)) ?? [];
  for (const [path, name] of stored) {
    const contents = await cache.read(name);
    if (!contents) {
      rmSync(dist, { recursive: true, force: true });
      return false;
    }
    const file = join(dist, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
    if (path.endsWith('.zst')) writeFileSync(file.slice(0, -'.zst'.length), zstdDecompressSync(contents));
  }
  return stored.length > 0;
}
