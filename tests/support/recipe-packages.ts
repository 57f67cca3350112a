import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Packages that only recipes need. They are large, so `npm ci` of the project does not install them. */
const PACKAGES = fileURLToPath(new URL('../recipes/packages', import.meta.url));
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Installs the packages of recipes, unless they are there. Vitest calls it before the tests of the docs. */
export default function installPackages(): void {
  const toTime = (path: string) => statSync(join(PACKAGES, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (toTime('node_modules/.package-lock.json') > toTime('package-lock.json')) return;
  execFileSync('npm', ['ci', '--prefer-offline'], { cwd: PACKAGES, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Links the packages of the project and those of recipes into one folder. */
export function linkPackages(target: string): void {
  for (const root of [PROJECT, PACKAGES]) linkEach(join(root, 'node_modules'), target);
}

function linkEach(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name.startsWith('@')) linkEach(join(from, name), join(to, name));
    else if (!statSync(join(to, name), { throwIfNoEntry: false })) symlinkSync(join(from, name), join(to, name));
  }
}
