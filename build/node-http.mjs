import http from 'node:http';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { toRelative } from './files.mjs';

/** Accessors that load Node's WebSocket client. The first also loads all of `undici`. */
export const COSTLY = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/**
 * Replaces imports of `node:http` in Spillway's files with a module without three of its exports. If an ES module imports
 * `node:http`, Node reads all exports, and these three load the WebSocket client: about 27 ms per start and thread. The
 * product still imports Node's module, because it can need them.
 *
 * @returns {import('esbuild').Plugin}
 */
export function nodeHttp(root) {
  return {
    name: 'node-http',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:http$/ }, ({ kind, importer }) => {
        const file = toRelative(root, importer);
        const isOwn = file.startsWith('src/') && !isInProduct(file);
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
