import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { indexes, listImportedNames, listReExports } from '../../build/import-by-name.mjs';

// For tests that run TypeScript in a process of its own: `node --import engine-by-name.mjs child.ts`. Like the build, it
// resolves each name of an index to its own file. An index as a whole has files with JSX, which Node cannot run.

const SCHEME = 'engine-by-name:';

registerHooks({
  resolve(specifier, context, next) {
    if (!Object.hasOwn(indexes, specifier) || !context.parentURL?.startsWith('file:')) return next(specifier, context);
    return { url: `${SCHEME}${specifier} ${context.parentURL}`, format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith(SCHEME)) return next(url, context);
    const [specifier, importer] = url.slice(SCHEME.length).split(' ');
    // The copy of the project that the importer belongs to.
    const index = new URL(indexes[specifier], importer.replace(/src\/.*$/, ''));
    const exports = listReExports(readFileSync(index, 'utf8'));
    const source = listImportedNames(readFileSync(fileURLToPath(importer), 'utf8'), specifier).map((name) => {
      const { local, file } = exports.get(name);
      return `export { ${local} as ${name} } from ${JSON.stringify(new URL(file, index).href)};`;
    });
    return { source: source.join('\n'), format: 'module', shortCircuit: true };
  },
});
