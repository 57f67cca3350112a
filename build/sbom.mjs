import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './files.mjs';

/**
 * A bill of materials in CycloneDX's form: what is in an image, and nothing that was needed to make it.
 * `npm sbom` lists what is installed; it leaves out what development needs as well (`pg`), and lists
 * packages of which no line was bundled. Made of the same inputs it is the same to the byte.
 *
 * @param {{ root: string, folders: readonly string[], libraries: readonly string[], versions: NodeJS.ProcessVersions }} parts
 *   folders of packages as the lockfile names them, the system's libraries, and what this Node consists of
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

/** With its own parts: a hole in OpenSSL is one in Node. */
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

/** By the list of Debian's packages, which the image itself does not have. */
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

/** A file may be listed under the folder that `/usr/lib` was before. */
function findOwner(path) {
  const answers = [path, path.replace(/^\/usr/, '')].map((file) => ask(['-S', file]));
  return answers.map((answer) => /^([^\s,]+): \//.exec(answer)?.[1]).find(Boolean);
}

/** @returns {string} the empty text where it knows nothing */
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
