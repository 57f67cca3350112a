import { join } from 'node:path';
import { build as bundle } from 'esbuild';

/**
 * Inline scripts and style sheets of documents, imported as text:
 * `import script from 'inline:src/client/hydration/early-script.ts'`. They are written, type-checked and tested as
 * client modules, and the server puts them into pages: a script as the body of a function, which its names stay in.
 */

/** @param {string} root @param {string} target @returns {import('esbuild').Plugin} */
export function inlineScripts(root, target) {
  return {
    name: 'inline-scripts',
    setup(build) {
      build.onResolve({ filter: /^inline:/ }, ({ path }) => ({
        path: path.slice('inline:'.length),
        namespace: 'inline',
      }));
      build.onLoad({ filter: /.*/, namespace: 'inline' }, async ({ path }) => {
        const { text, files } = await bundleScript(root, path, target);
        return { contents: text, loader: 'text', watchFiles: files };
      });
    },
  };
}

/** @returns the text of a bundle, and the files that it is made of */
export async function bundleScript(root, file, target) {
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target,
    logLevel: 'silent',
    legalComments: 'none',
  });
  const text = outputFiles[0].text.trim();
  // Such text would end the script element, or change how the rest of the page is parsed.
  if (/<\/script|<script|<!--/i.test(text))
    throw new Error(
      `${file} contains "<script", "</script" or "<!--", which would break the page that it is inlined in. Split that string.`,
    );
  return { text, files: Object.keys(metafile.inputs).map((path) => join(root, path)) };
}
