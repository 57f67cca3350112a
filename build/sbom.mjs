import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './files.mjs';

/**
 * Returns a bill of materials in the CycloneDX format: the contents of an image, without its build tools. `npm sbom` lists
 * installed packages instead: it leaves out packages that development needs as well (`pg`), and lists packages of which
 * nothing was bundled. The same inputs give the same bytes.
 *
 * @param {{ root: string, folders: readonly string[], libraries: readonly string[], versions: NodeJS.ProcessVersions }} parts
 *   folders of packages as in the lockfile, system libraries, and the versions of Node and its components
 */
export function createSbom({ root, folders, libraries, versions }) {
  const { name, version, description, license } = readJson(join(root, 'package.json'));
  const lock = readJson(join(root, 'package-lock.json')).packages;
  const packages = folders.map((folder) => toPackage(folder, lock[folder] ?? {}));
  const components = [...packages, toNode(versions), ...toSystemPackages(libraries)];
  const unique = new Map(components.map((component) => [component['bom-ref'], component]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { 'bom-ref': 'application', type: 'application', name, version, description, ...toLicenses(license) },
    },
    components: [...unique.values()],
  };
}

function toPackage(folder, { name = folder.split('node_modules/').at(-1), version, integrity, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [algorithm, hash] = integrity?.split('-') ?? [];
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    }),
    ...toLicenses(license),
  };
}

/** Includes Node's components, because a vulnerability in OpenSSL is one in Node. */
function toNode({ node, ...parts }) {
  const known = Object.entries(parts).filter(
    ([name, version]) => version && !['modules', 'napi', 'unicode'].includes(name),
  );
  return {
    'bom-ref': 'node',
    type: 'platform',
    name: 'node',
    version: node,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${node}`,
    licenses: [{ license: { id: 'MIT' } }],
    components: known.map(([name, version]) => ({ 'bom-ref': `node/${name}`, type: 'library', name, version })),
  };
}

/** Looks the libraries up in Debian's package database, which the final image does not have. */
function toSystemPackages(libraries) {
  if (!existsSync('/usr/bin/dpkg-query')) return [];
  const names = new Set(libraries.map((path) => findOwner(realpathSync(path))).filter(Boolean));
  return [...names].sort().map((owner) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of dpkg-query
    const format = '${Package} ${Version} ${Architecture}';
    const [name, version, architecture] = ask(['-W', '-f', format, owner]).split(' ');
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
    return { 'bom-ref': purl, type: 'library', name, version, purl };
  });
}

/** Also tries the path without `/usr`, because some packages list their files under the old `/lib`. */
function findOwner(path) {
  const answers = [path, path.replace(/^\/usr/, '')].map((file) => ask(['-S', file]));
  return answers.map((answer) => /^([^\s,]+): \//.exec(answer)?.[1]).find(Boolean);
}

/** @returns {string} empty if `dpkg-query` finds nothing */
function ask(options) {
  try {
    return execFileSync('dpkg-query', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

function toLicenses(license) {
  if (typeof license !== 'string') return {};
  return { licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }] };
}
