import { hash } from 'node:crypto';
import { basename, join } from 'node:path';

/**
 * Gives an output the name that it had when nothing but its name is another. esbuild's hash takes in
 * the order in which it numbers its outputs, so that adding or removing one module renames others
 * that are the same but for the order of their imports; a page that is open would take them for changed, and reload.
 *
 * The function that is returned remembers the outputs of all builds that it has seen.
 *
 * @param {string} root
 */
export function createStableNames(root) {
  /** By esbuild's path, the one that is kept. */
  const kept = new Map();
  const pathByText = new Map();

  /**
   * @param {Pick<import('esbuild').BuildResult<{ metafile: true, write: false }>, 'metafile' | 'outputFiles'>} build
   * @returns {{ metafile: import('esbuild').Metafile, outputFiles: { path: string, contents: Uint8Array }[] }}
   *   without what has been an output of an earlier build
   */
  return function keepNames({ metafile, outputFiles }) {
    const files = new Map(outputFiles.map((file) => [file.path, file]));
    const open = new Set();

    function toKept(path) {
      const known = kept.get(path);
      if (known !== undefined) return known;
      const output = metafile.outputs[path];
      // In a circle of imports esbuild's names stand: they change together.
      if (!output || !path.endsWith('.js') || open.has(path)) return path;
      open.add(path);
      const map = files.get(join(root, `${path}.map`))?.text ?? '';
      const text = sortImports(renameImports(path).replaceAll(basename(path), ''));
      const key = hash('sha256', [output.entryPoint, text, map].join('\0'));
      if (!pathByText.has(key)) pathByText.set(key, path);
      kept.set(path, pathByText.get(key));
      return pathByText.get(key);
    }

    function renameImports(path) {
      let text = files.get(join(root, path))?.text ?? '';
      for (const { path: imported } of metafile.outputs[path].imports) {
        text = text.replaceAll(basename(imported), basename(toKept(imported)));
      }
      return text;
    }

    const outputs = Object.entries(metafile.outputs).map(([path, output]) => {
      const imports = output.imports.map((found) => ({ ...found, path: toKept(found.path) }));
      return [toKept(path), { ...output, imports }];
    });
    const isRenamed = (path) => toKept(path) !== path;
    const written = Object.keys(metafile.outputs)
      .filter((path) => !isRenamed(path.replace(/\.map$/, '')) && files.has(join(root, path)))
      .map((path) => {
        const file = files.get(join(root, path));
        const imports = metafile.outputs[path].imports;
        return imports.some((found) => isRenamed(found.path))
          ? { path: file.path, contents: Buffer.from(renameImports(path)) }
          : file;
      });
    return { metafile: { ...metafile, outputs: Object.fromEntries(outputs) }, outputFiles: written };
  };
}

/** In the order of the numbers that esbuild gave, which says nothing of the sources; their own order stands in the map. */
function sortImports(text) {
  const statements = [];
  const rest = text.replace(/^import\s(?:\{[^}]*\} from )?"[^"]*";$/gm, (statement) => {
    statements.push(statement);
    return '';
  });
  return [...statements.sort(), rest].join('\n');
}
