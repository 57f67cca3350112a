import http from 'node:http';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { toRelative } from './files.mjs';
import { findOwner } from './packages.mjs';

/** Packages that Express loads when it starts and calls for few requests, with the functions that it uses of them. */
const LAZY = {
  'body-parser': ['json', 'raw', 'text', 'urlencoded'],
  'mime-types': ['contentType', 'lookup'],
  qs: ['parse'],
};
const EXPRESS = new Set(['express', 'accepts', 'send', 'type-is']);

/** What body parsers use of `iconv-lite`, whose tables would be a fifth of the bundle. Node decodes the same encodings. */
const DECODER = `
function open(name) {
  try {
    return new TextDecoder(name);
  } catch {
    throw new Error('Encoding not recognized: ' + name);
  }
}
exports.encodingExists = (name) => {
  try {
    return !!open(name);
  } catch {
    return false;
  }
};
exports.decode = (bytes, name) => open(name).decode(bytes);
exports.getDecoder = (name) => {
  const decoder = open(name);
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
};
`;
const PARSERS = new Set(['body-parser', 'raw-body']);

/** Accessors that load Node's WebSocket client. The first also loads all of `undici`. */
export const COSTLY = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/**
 * Leaves out of the start what few requests need:
 *
 * - Express loads these packages when one of their functions is first called. At the start they would take 6 % of its CPU
 *   time, half of it for the table of all media types. Other packages and the product load them as usual.
 * - Spillway's files import `node:http` without three of its exports. If an ES module imports `node:http`, Node reads all
 *   exports, and these three load the WebSocket client: about 27 ms per start and thread. The product still imports
 *   Node's module, because it can need them.
 * - Spillway's log has a bundled `pino`, because loading its 30 files takes a tenth of the start. The product's `pino`
 *   stays in `node_modules`.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function quickStart(root) {
  return {
    name: 'quick-start',
    setup({ onResolve, onLoad }) {
      const names = Object.keys(LAZY).join('|');
      onResolve({ filter: new RegExp(`^(?:${names})$`) }, ({ path, importer, resolveDir, namespace }) => {
        if (namespace !== 'file' || !EXPRESS.has(findOwner(importer))) return undefined;
        // Another version of Express finds other versions of them.
        return { path: toRelative(root, join(resolveDir, path)), namespace: 'late', pluginData: resolveDir };
      });
      onResolve({ filter: /^iconv-lite$/ }, ({ path, importer }) =>
        PARSERS.has(findOwner(importer)) ? { path, namespace: 'decoder' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'decoder' }, () => ({ contents: DECODER }));
      onLoad({ filter: /./, namespace: 'late' }, ({ path, pluginData: resolveDir }) => {
        const name = basename(path);
        const lines = LAZY[name].map((key) => `exports.${key} = (...args) => require('${name}').${key}(...args);\n`);
        return { contents: lines.join(''), resolveDir };
      });

      const isOwn = (importer) => {
        const file = toRelative(root, importer);
        return file.startsWith('src/') && !isInProduct(file);
      };
      onResolve({ filter: /^pino$/ }, ({ importer }) =>
        isOwn(importer) ? { path: createRequire(importer).resolve('pino') } : undefined,
      );
      onResolve({ filter: /^node:http$/ }, ({ kind, importer }) =>
        kind === 'import-statement' && isOwn(importer) ? { path: 'http', namespace: 'node-http' } : undefined,
      );
      onLoad({ filter: /^http$/, namespace: 'node-http' }, () => {
        const kept = Object.keys(http).filter((name) => !COSTLY.includes(name));
        return {
          contents: `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${kept.join(', ')} } = http;\n`,
        };
      });
    },
  };
}
