// node bin/image.mjs <folder>
// Collects everything that an image needs besides the build: this Node with its shared libraries, the packages that the
// bundles load at run time, and a user. The Dockerfile copies it into an empty image, so that nothing else is there to
// run, update or attack.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { listFiles, readJson } from '../build/files.mjs';
import { isForeign } from '../build/linked-packages.mjs';
import { findOwner, findPackage } from '../build/packages.mjs';

/** A user id that the host does not use. 0 would be the host's root. */
const user = 10001;

/**
 * @param {string} root of the project, built
 * @param {string} folder becomes `/` of the image
 */
export function layOutImage(root, folder) {
  const node = process.execPath;
  copyFile(node, join(folder, 'usr/local/bin/node'));
  const packages = placePackages(root, readJson(join(root, 'dist/packages.json')).loaded);
  for (const [place, from] of packages) copyPackage(from, join(folder, 'app', place));
  const addons = [...packages.values()].flatMap(listAddons);
  for (const library of listLibraries([node, ...addons])) copyFile(library, join(folder, library));
  mkdirSync(join(folder, 'etc'), { recursive: true });
  const etc = {
    passwd: `spillway:x:${user}:${user}::/data:/none\n`,
    group: `spillway:x:${user}:\n`,
    // Without this file, names in /etc/hosts are not found.
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(folder, 'etc', name), text);
  // As a mount point. The server itself writes only to /data.
  mkdirSync(join(folder, 'tmp'), { recursive: true });
}

/**
 * Finds packages and all their dependencies as Node resolves them, in the layout of any package manager, and places them
 * beside the build. A second version of a package belongs to the one that needs it. Missing packages are optional:
 * without any other package, the build would have failed.
 *
 * @param {string} root of the project
 * @param {readonly string[]} names
 * @returns {Map<string, string>} real folders by their place in the app's folder of the image
 */
export function placePackages(root, names) {
  const packages = new Map();
  // Breadth first, so that a package never takes the place of one that others already find there.
  const queue = names.map((name) => ({ name, from: root, owner: '' }));
  for (const { name, from, owner } of queue) {
    const found = findPackage(name, from);
    if (!found) continue;
    const folder = realpathSync(found);
    const known = listOwners(owner).find((path) => packages.has(join(path, 'node_modules', name)));
    if (known !== undefined && packages.get(join(known, 'node_modules', name)) === folder) continue;
    const path = join(known === undefined ? '' : owner, 'node_modules', name);
    packages.set(path, folder);
    const { dependencies, optionalDependencies, peerDependencies } = readJson(join(folder, 'package.json'));
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      queue.push({ name: next, from: folder, owner: path });
  }
  return packages;
}

/** Lists a place and those around it, where Node looks for its dependencies, too: innermost first. */
function listOwners(place) {
  return place === '' ? [''] : [place, ...listOwners(place.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, ''))];
}

function listAddons(folder) {
  const files = listFiles(folder).filter((path) => path.endsWith('.node'));
  return files.map((path) => join(folder, path));
}

/**
 * Lists shared libraries with the system's loader, which is right on every processor. Those of packages, such as libvips,
 * are copied with them.
 *
 * @param {readonly string[]} binaries
 * @returns {string[]} absolute paths
 */
function listLibraries(binaries) {
  // Packages can contain addons for other systems. The loader refuses those, or misses the C library of Alpine.
  const lines = binaries.flatMap((file) => spawnSync('ldd', [file], { encoding: 'utf8' }).stdout.split('\n'));
  const missing = lines.find((line) => line.includes('not found') && !line.includes('libc.musl-'));
  if (missing)
    throw new Error(`A shared library is missing in the build stage: ${missing.trim()}. Install its package there.`);
  const found = new Set(lines.flatMap((line) => /(?:^|=>)\s*(\/\S+) \(/.exec(line)?.[1] ?? []));
  return [...found].filter((path) => !findOwner(path));
}

/** Copies a file. For a link, copies its target. */
function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { dereference: true });
}

/**
 * Copies the files of a package, which can read any of them, but not as executables. Its dependencies are copied
 * separately. Hidden files of a package in a workspace can be secret.
 */
function copyPackage(from, to) {
  cpSync(from, to, { recursive: true, dereference: true, filter: (path) => path === from || !isForeign(path) });
  for (const path of listFiles(to)) chmodSync(join(to, path), 0o644);
}

// `main` needs Node 24.2.
if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2);
  if (!folder || folder.startsWith('-')) {
    process.stderr.write('Usage: node bin/image.mjs <folder>, after "npm run build".\n');
    process.exit(1);
  }
  layOutImage(join(import.meta.dirname, '..'), resolve(folder));
}
