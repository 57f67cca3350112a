import { hash } from 'node:crypto';
import { basename, relative } from 'node:path';
import { toLateFile } from './first-load.mjs';
import { groupSheets, listSheets } from './styles.mjs';

/**
 * The style sheets of the client as files, and by module their URLs. What comes with the entry is
 * not named again by a page.
 *
 * @param {{ metafile: import('esbuild').Metafile, entry: string, pages: string[], outdir: string, compile: (sheet: string) => Promise<{ css: string, assets: import('esbuild').OutputFile[] }> }} parts
 *   `entry`, `pages` and sheets are keys of `metafile.inputs`
 */
export async function bundleStyles({ metafile, entry, pages, outdir, compile }) {
  const sheetsByUser = new Map([entry, ...pages].map((user) => [user, listSheets(metafile, user, new Set(pages))]));
  const { groups, groupsByUser } = groupSheets(sheetsByUser);
  const assets = [];
  const bundled = await Promise.all(
    groups.map(async (sheets) => {
      const compiled = await Promise.all(sheets.map(compile));
      assets.push(...compiled.flatMap((sheet) => sheet.assets));
      const contents = Buffer.from(compiled.map(({ css }) => css).join(''));
      const name = basename(sheets.at(-1) ?? '', '.css').replace(/\.module$/, '');
      return { path: `assets/${name}-${hash('sha256', contents).slice(0, 8).toUpperCase()}.css`, contents };
    }),
  );

  const withEntry = groupsByUser.get(entry) ?? [];
  const urlsByUser = new Map();
  for (const [user, own] of groupsByUser) {
    const wanted = user === entry ? own : own.filter((index) => !withEntry.includes(index));
    urlsByUser.set(
      user,
      wanted.filter((index) => bundled[index].contents.length > 0).map((index) => `/${bundled[index].path}`),
    );
  }
  const assetFiles = assets.map(({ path, contents }) => ({
    path: relative(outdir, path).replaceAll('\\', '/'),
    contents,
  }));
  return { files: [...bundled.filter(({ contents }) => contents.length > 0), ...assetFiles], urlsByUser };
}

/**
 * What the manifest says of one app.
 *
 * @param {{ metafile: import('esbuild').Metafile, outdir: string, entry: string, routeModules: Record<string, string>, styleUrls: Map<string, string[]> }} parts
 * @returns {import('../src/shared/engine/wire/manifest.ts').AppAssets}
 */
export function listAppAssets({ metafile, outdir, entry, routeModules, styleUrls }) {
  const outputOf = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [toLateFile(entryPoint), path]),
  );
  const toUrl = (output) => output.slice(outdir.length);
  const entryOutput = outputOf.get(entry) ?? '';
  const withEntry = listStaticImports(metafile, entryOutput);

  const routes = Object.entries(routeModules).map(([id, module]) => {
    const output = outputOf.get(module);
    // A page that the entry imports statically has no chunk: it comes with the entry.
    if (!output)
      throw new Error(
        `The page of the route "${id}" (${module}) has no chunk of its own, because ${entry} reaches it with a plain import. Import it through the route table alone.`,
      );
    const preloads = [...listStaticImports(metafile, output)].filter(
      (path) => path !== entryOutput && !withEntry.has(path),
    );
    return [id, { script: toUrl(output), preloads: preloads.map(toUrl), styles: styleUrls.get(module) ?? [] }];
  });

  return {
    entry: { script: toUrl(entryOutput), preloads: [...withEntry].map(toUrl), styles: styleUrls.get(entry) ?? [] },
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

/**
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {string} the same for the same files, wherever and whenever they were built
 */
export function toBuildId(files) {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(({ path, contents }) => `${path}\0${hash('sha256', contents)}\n`);
  return hash('sha256', lines.join('')).slice(0, 12);
}
