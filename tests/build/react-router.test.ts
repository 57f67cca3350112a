import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { reactRouter, routerContexts } from '../../build/react-router.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    alias: routerContexts(root, { dev: true }),
    conditions: ['development'],
    plugins: [reactRouter(root, { dev: true })],
  });
  return outputFiles[0]?.text ?? '';
}

/** How the module that creates the router's contexts imports React. */
function readImport(text: string): string | undefined {
  return /\/lib\/context\.js\n.*?__toESM\((.+?)\);/s.exec(text)?.[1];
}

// Which import is resolved first varies. If it decided how the module is compiled, builds would not be reproducible.
it('compiles the contexts of the router identically for both import names', async () => {
  const byOurs = readImport(await bundle("import * as x from 'spillway:router-contexts'; console.log(x);"));
  const byTheirs = readImport(await bundle("import { useLocation } from 'react-router'; console.log(useLocation);"));
  expect(byOurs).toBe('require_react(), 1');
  expect(byTheirs).toBe(byOurs);
});
