import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/**
 * What the compiler knows of the files of a good copy. It goes by their content and their place relative
 * to it, so it serves every copy in a folder beside that one, and a check takes a fifth of the time.
 */
const known = join(project, 'node_modules/.cache/spillway/types');

/**
 * Type-checks the three trees of a copy of the project.
 *
 * @returns what the compiler said; the empty text when nothing is wrong
 */
export async function checkTypes(folder: string): Promise<string> {
  mkdirSync(join(folder, '.types'), { recursive: true });
  const said = await Promise.all(['shared', 'client', 'server'].map((tree) => checkTree(folder, tree)));
  return said.join('');
}

async function checkTree(folder: string, tree: string): Promise<string> {
  const tsc = join(project, 'node_modules/.bin/tsc');
  const found = join(folder, `.types/${tree}.json`);
  const shared = join(known, `${tree}.json`);
  if (!existsSync(found) && existsSync(shared)) copyFileSync(shared, found);
  const args = ['-p', `tsconfig.${tree}.json`, '--pretty', 'false', '--incremental', '--tsBuildInfoFile', found];
  try {
    await run(tsc, args, { cwd: folder });
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout ?? error);
  }
  if (!existsSync(shared)) share(found, shared);
  return '';
}

/** Whole or not at all: others may read it meanwhile. */
function share(found: string, shared: string): void {
  mkdirSync(known, { recursive: true });
  const copy = `${shared}.${process.pid}`;
  copyFileSync(found, copy);
  renameSync(copy, shared);
}
