import { hash } from 'node:crypto';
import { toLazyFile } from './first-load.mjs';
import { findOwner } from './packages.mjs';

/**
 * Returns the manifest's entry for an app.
 *
 * @param {{ metafile: import('esbuild').Metafile, outdir: string, entry: string, routeModules: Record<string, string>, styleUrls: Map<string, string[]> }} parts
 * @returns {import('../src/shared/wire/manifest.ts').AppAssets}
 */
export function listAppAssets({ metafile, outdir, entry, routeModules, styleUrls }) {
  const outputOf = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [toLazyFile(entryPoint), path]),
  );
  const entryOutput = outputOf.get(entry) ?? '';
  const withEntry = listStaticImports(metafile, entryOutput);
  const toAssets = (output, preloads, module) => {
    const [script, ...others] = [output, ...preloads].map((path) => path.slice(outdir.length));
    return { script, preloads: others, styles: styleUrls.get(module) ?? [] };
  };

  const routes = Object.entries(routeModules).map(([id, module]) => {
    const output = outputOf.get(module);
    // A page that the entry imports statically is part of the entry's chunk.
    if (!output)
      throw new Error(
        `The page of the route "${id}" (${module}) has no separate chunk, because ${entry} reaches it with a static import. Import it only in the route table.`,
      );
    const preloads = [...listStaticImports(metafile, output)].filter(
      (path) => path !== entryOutput && !withEntry.has(path),
    );
    return [id, toAssets(output, preloads, module)];
  });

  return {
    entry: toAssets(entryOutput, withEntry, entry),
    routes: Object.fromEntries(routes),
  };
}

function listStaticImports(metafile, output, found = new Set()) {
  for (const { path, kind, external } of metafile.outputs[output]?.imports ?? []) {
    if (kind !== 'import-statement' || external || found.has(path)) continue;
    found.add(path);
    listStaticImports(metafile, path, found);
  }
  return found;
}

/** A page with more scripts of its own gets a warning (bytes, gzip). */
const largeBytes = 150 * 1000;

/**
 * Says how large the scripts are that pages load (gzip), and what makes a page large.
 *
 * @param {import('../src/shared/wire/manifest.ts').AppAssets} assets
 * @param {Pick<import('esbuild').Metafile, 'outputs'>} metafile
 * @param {string} outdir
 * @param {{ path: string, contents: Uint8Array }[]} compressed paths within `dist`
 * @returns {string[]} lines
 */
export function describeScripts({ entry, routes }, { outputs }, outdir, compressed) {
  const sizes = new Map(compressed.map(({ path, contents }) => [path, contents.length]));
  const toText = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const listUrls = ({ script, preloads }) => [script, ...preloads];
  const measure = (files) => listUrls(files).reduce((sum, url) => sum + (sizes.get(`client${url}.gz`) ?? 0), 0);
  /** The largest parts of scripts before gzip, by package and own file. */
  const describeParts = (files, count) => {
    const totals = new Map();
    const inputs = listUrls(files).flatMap((url) => Object.entries(outputs[outdir + url].inputs));
    for (const [path, { bytesInOutput }] of inputs) {
      const name = findOwner(path) ?? path;
      totals.set(name, (totals.get(name) ?? 0) + bytesInOutput);
    }
    const parts = [...totals].sort(([, one], [, other]) => other - one).slice(0, count);
    return `before gzip: ${parts.map(([name, bytes]) => `${name} ${toText(bytes)}`).join(', ')}`;
  };
  const pages = Object.entries(routes).map(([id, files]) => ({ id, files, size: measure(files) }));
  const [largest] = pages.sort((one, other) => other.size - one.size);
  return [
    `Scripts on every page: ${toText(measure(entry))} (gzip).${largest ? ` The largest page adds ${toText(largest.size)}: ${largest.id}.` : ''}`,
    `The largest parts of them, ${describeParts(entry, 10)}.`,
    ...pages
      .filter(({ size }) => size > largeBytes)
      .map(
        ({ id, files, size }) =>
          `The page "${id}" adds ${toText(size)}, ${describeParts(files, 5)}. Use lazy() of React for parts that visitors do not need immediately.`,
      ),
  ];
}

/**
 * Another release has another id, even if only its server differs, because there is one set of source maps for an id.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files those that are served
 * @param {string} stamp of the sources and the release
 * @returns {string} an id that does not depend on when or where they were built
 */
export function toBuildId(files, stamp) {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(({ path, contents }) => `${path}\0${hash('sha256', contents)}\n`);
  return hash('sha256', lines.join('') + stamp).slice(0, 12);
}
