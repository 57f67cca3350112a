import { join } from 'node:path';
import { toRelative } from './files.mjs';

/** @returns {string | undefined} what to do about an import of a file of `src/server` in the browser's code */
export function refuseServerFile(file) {
  if (!file.startsWith('src/server/')) return undefined;
  return `The import of ${file} would send server code to the browser. Move code that both sides need to src/shared. To import only a type, use \`import type\`.`;
}

/** Keeps server code and Node's modules out of the browser. @param {string} root @returns {import('esbuild').Plugin} */
export function clientInputs(root) {
  return {
    name: 'client-inputs',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: new RegExp(`^${RegExp.escape(join(root, 'src/server'))}`) }, ({ path }) => {
        const text = refuseServerFile(toRelative(root, path));
        return text && { errors: [{ text }] };
      });
      onResolve({ filter: /^node:/ }, ({ path }) => {
        const text = `Only Node has ${path}, but the file is part of the client bundle. Move it to src/server, or use an API that browsers also have.`;
        return { errors: [{ text }] };
      });
    },
  };
}
