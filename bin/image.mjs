// node bin/image.mjs <folder>
// Collects everything that an image needs besides the build: this Node with its shared libraries, the packages that the
// bundles load at run time, and a user. The Dockerfile copies it into an empty image, so that nothing else is there to
// run, update or attack.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles, readJson } from '../build/files.mjs';
import { listInstalled } from '../build/packages.mjs';

/** A user id that the host does not use. 0 would be the host's root. */
const user = 10001;

/**
 * @param {string} root of the project, built
 * @param {string} folder becomes `/` of the image
 */
export function layOutImage(root, folder) {
  const node = process.execPath;
  copyFile(node, join(folder, 'usr/local/bin/node'));
  const packages = listInstalled(root, readJson(join(root, 'dist/packages.json')).loaded);
  // In a workspace they are above the project, but in the image they are beside the build.
  for (const path of packages) copyPackage(join(root, path), join(folder, 'app', path.replace(/^(?:\.\.\/)+/, '')));
  const addons = packages.flatMap((path) => listAddons(join(root, path)));
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

function listAddons(folder) {
  const files = listFiles(folder).filter((path) => path.endsWith('.node'));
  return files.map((path) => join(folder, path));
}

/**
 * Lists shared libraries with the system's loader, which is right on every processor.
 *
 * @param {readonly string[]} binaries
 * @returns {string[]} absolute paths
 */
function listLibraries(binaries) {
  const lines = binaries.flatMap((file) => execFileSync('ldd', [file], { encoding: 'utf8' }).split('\n'));
  const missing = lines.find((line) => line.includes('not found'));
  if (missing)
    throw new Error(`A shared library is missing in the build stage: ${missing.trim()}. Install its package there.`);
  return [...new Set(lines.flatMap((line) => /(?:^|=>)\s*(\/\S+) \(/.exec(line)?.[1] ?? []))].sort();
}

/** Copies a file. For a link, copies its target. */
function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { dereference: true });
}

/** Copies a package's loadable files and its license, without executables. Its dependencies are copied separately. */
function copyPackage(from, to) {
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) => path === from || isLoaded(relative(from, path), statSync(path)),
  });
  for (const path of listFiles(to)) chmodSync(join(to, path), 0o644);
}

function isLoaded(path, stats) {
  const name = basename(path);
  if (stats.isDirectory()) return !/^(?:\..*|node_modules|tests?|docs|benchmarks?|examples?)$/.test(name);
  return /\.(?:[cm]?js|json|node|wasm|txt)$|^(?:licen[cs]e|notice)/i.test(name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (!folder) {
    process.stderr.write('Usage: node bin/image.mjs <folder>, after "npm run build".\n');
    process.exit(1);
  }
  layOutImage(fileURLToPath(new URL('..', import.meta.url)), resolve(folder));
}
