import http from 'node:http';
import { join, sep } from 'node:path';

/** Accessors that load Node's WebSocket client, the first of them with all of `undici`. */
export const COSTLY = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/**
 * Where an ES module imports `node:http`, Node reads all that it exports, and three of its exports load
 * the WebSocket client: some 27 ms of each start, in each thread. In the server's own files the import
 * becomes one of a module that leaves them out. The product, which may want them, imports Node's own.
 *
 * @returns {import('esbuild').Plugin}
 */
export function nodeHttp(root) {
  const product = join(root, 'src/server/product') + sep;
  const own = join(root, 'src') + sep;
  return {
    name: 'node-http',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:http$/ }, ({ kind, importer }) => {
        const isOwn = importer.startsWith(own) && !importer.startsWith(product);
        return kind === 'import-statement' && isOwn ? { path: 'http', namespace: 'node-http' } : undefined;
      });
      onLoad({ filter: /^http$/, namespace: 'node-http' }, () => {
        const names = Object.keys(http).filter((name) => !COSTLY.includes(name));
        return {
          contents: `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;\n`,
        };
      });
    },
  };
}
