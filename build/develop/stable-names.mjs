import { hash } from 'node:crypto';
import { basename, join } from 'node:path';

/**
 * Keeps the name of an output if only its name changed. esbuild's hash includes the order in which it numbers outputs.
 * Adding or removing a module therefore renames other outputs in which only the order of imports differs, and open pages
 * would reload for them.
 *
 * The returned function remembers the outputs of all previous builds.
 *
 * @param {string} root
 */
export function createStableNames(root) {
  /** Kept paths by esbuild's paths. */
  const kept = new Map();
  const pathByText = new Map();

  /**
   * @param {Pick<import('esbuild').BuildResult<{ metafile: true, write: false }>, 'metafile' | 'outputFiles'>} build
   * @returns {{ metafile: import('esbuild').Metafile, outputFiles: { path: string, contents: Uint8Array }[] }}
   *   without the outputs of earlier builds
   */
  return function keepNames({ metafile, outputFiles }) {
    const files = new Map(outputFiles.map((file) => [file.path, file]));
    const open = new Set();

    function toKept(path) {
      const known = kept.get(path);
      if (known !== undefined) return known;
      const output = metafile.outputs[path];
      // In a cycle of imports, esbuild's names are kept, because they change together.
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

/** Sorts imports, whose order depends on esbuild's numbering and not on the sources. The map has their own order. */
function sortImports(text) {
  const statements = [];
  const rest = text.replace(/^import\s(?:\{[^}]*\} from )?"[^"]*";$/gm, (statement) => {
    statements.push(statement);
    return '';
  });
  return [...statements.sort(), rest].join('\n');
}
