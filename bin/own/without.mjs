import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { listFiles, readJson } from '../../build/files.mjs';
import { writeJson } from '../upgrade/spillway-file.mjs';
import { listSettings, withoutSettings } from './settings.mjs';

/**
 * Removes a part of Spillway: its rooms, what imports them, its settings and its packages.
 *
 * @param {string} root
 * @param {string} name
 */
export function removePart(root, name) {
  const paths = ['.github', 'bench', 'bin', 'build', 'docs', 'src', 'templates', 'tests'].flatMap((folder) =>
    listFiles(join(root, folder)).map((path) => `${folder}/${path}`),
  );
  const top = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const plan = planWithout(name, { paths: [...paths, ...top.map((entry) => entry.name)], read });
  const { removal, removed, written } = plan;
  const settings = listSettings(read(removal.settings));
  const added = read(`templates/without-${name}/.env.part`);
  for (const path of removed) rmSync(join(root, path));
  for (const folder of ['src', 'tests', 'bench', 'docs']) removeEmptyFolders(join(root, folder));
  for (const [path, text] of written) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, '.env.example'), withoutSettings(read('.env.example'), settings) + added);
  const manifest = readJson(join(root, 'package.json'));
  withoutPackages(manifest, removal);
  writeJson(join(root, 'package.json'), manifest);
}

function removeEmptyFolders(folder) {
  const entriesHere = readdirSync(folder, { withFileTypes: true });
  for (const entry of entriesHere) if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/**
 * @typedef {object} Sources the files of an app
 * @property {string[]} paths
 * @property {(path: string) => string} read
 *
 * @typedef {object} Removal what `templates/without-<part>/removal.json` says
 * @property {string} room the name of the part's folders in `src` and `tests`
 * @property {string[]} paths other files, and folders that end with a slash
 * @property {string[]} regions files with lines between `#region <part>` and `#endregion <part>`
 * @property {Record<string, string | null>} scripts of package.json that are changed, or removed
 * @property {string[]} packages that nothing else needs
 * @property {string[]} developing packages that only tests and benchmarks still need
 * @property {string} settings the table of the part's settings
 */

/**
 * Lists what an app without a part does not have.
 *
 * @param {string} part
 * @param {Sources} sources
 * @returns {{ removal: Removal, removed: Set<string>, written: Map<string, string> }}
 */
export function planWithout(part, { paths, read }) {
  const folder = `templates/without-${part}`;
  /** @type {Removal} */
  const removal = JSON.parse(read(`${folder}/removal.json`));
  const replaced = new Map(
    paths
      .filter((path) => path.startsWith(`${folder}/files/`))
      .map((path) => [path.slice(`${folder}/files/`.length), read(path)]),
  );
  const removed = withImporters(
    paths.filter((path) => isListed(path, removal)),
    { paths: paths.filter((path) => !replaced.has(path)), read, removal },
  );
  const written = new Map(replaced);
  for (const path of paths) {
    const isEdited = removal.regions.includes(path) || path.endsWith('.md');
    if (!isEdited || removed.has(path) || replaced.has(path)) continue;
    const text = read(path);
    const changed = withoutRegions(text, part);
    if (changed !== text) written.set(path, changed);
  }
  return { removal, removed, written };
}

/** Removes the lines between the markers, in code and in Markdown, with the empty line after it. */
export function withoutRegions(text, part) {
  const lines = new RegExp(
    `^[ \\t]*(?://|#) #region ${part}\\n[\\s\\S]*?^[ \\t]*(?://|#) #endregion ${part}\\n\\n?`,
    'gm',
  );
  const blocks = new RegExp(`^<!-- ${part} -->\\n[\\s\\S]*?^<!-- /${part} -->\\n\\n?`, 'gm');
  return text.replace(lines, '').replace(blocks, '');
}

function isListed(path, { room, paths }) {
  const isCode = /^(?:src|tests)\//.test(path);
  return (
    (isCode && path.split('/').slice(0, -1).includes(room)) ||
    paths.some((listed) => path === listed || (listed.endsWith('/') && path.startsWith(listed)))
  );
}

/** Adds the tests and benchmarks that import removed files. */
function withImporters(listed, { paths, read, removal }) {
  const removed = new Set(listed);
  const importers = paths.filter((path) => /^(?:tests|bench)\/.*\.(?:tsx?|mjs)$/.test(path) && !removed.has(path));
  const imports = new Map(
    importers.map((path) => {
      const text = removal.regions.includes(path) ? withoutRegions(read(path), removal.room) : read(path);
      return [path, listImports(path, text)];
    }),
  );
  for (let size = 0; size !== removed.size; ) {
    size = removed.size;
    for (const [path, targets] of imports) if (targets.some((target) => removed.has(target))) removed.add(path);
  }
  return removed;
}

function listImports(path, text) {
  return [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g)].map(([, target]) =>
    posix.join(posix.dirname(path), target),
  );
}

/**
 * Removes scripts and packages from package.json.
 *
 * @param {Record<string, any>} manifest
 * @param {Removal} removal
 */
function withoutPackages(manifest, { scripts, packages, developing }) {
  for (const [name, script] of Object.entries(scripts)) {
    if (script === null) delete manifest.scripts[name];
    else manifest.scripts[name] = script;
  }
  for (const name of packages) delete manifest.dependencies[name];
  for (const name of developing) {
    const { [name]: version, ...others } = manifest.dependencies;
    if (version === undefined) continue;
    manifest.dependencies = others;
    manifest.devDependencies = toSorted({ ...manifest.devDependencies, [name]: version });
  }
}

export function toSorted(entries) {
  return Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));
}
