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

/** How the module that makes the router's contexts gets at React. */
function readImport(text: string): string | undefined {
  return /\/lib\/context\.js\n.*?__toESM\((.+?)\);/s.exec(text)?.[1];
}

// Which of the two ways is first is a race: a module that is compiled by the way in which it was reached makes builds of one source differ.
it('compiles the contexts of the router alike, by our name and by that of the package', async () => {
  const byOurs = readImport(await bundle("import * as x from 'spillway:router-contexts'; console.log(x);"));
  const byTheirs = readImport(await bundle("import { useLocation } from 'react-router'; console.log(useLocation);"));
  expect(byOurs).toBe('require_react(), 1');
  expect(byTheirs).toBe(byOurs);
});
