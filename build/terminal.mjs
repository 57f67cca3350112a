import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { terminalFiles } from './stamp.mjs';

/** The command looks at the desk where the site does not start, so that it shares no file with the site. */
const entry = 'src/server/terminal.ts';

/** The guard of the version is evaluated first; what comes behind it is only loaded where it lets it pass. */
const door = `import { hasRequiredNode } from '../bin/require-node.mjs';
if (hasRequiredNode()) await import('./server/desk.js');
`;

/** Bundled CommonJS calls `require` for Node's modules. */
const requireBanner = `import { createRequire as __cr } from 'node:module';\nconst require = __cr(import.meta.url);`;

const common = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  legalComments: 'none',
  logLevel: 'silent',
};

/**
 * The command for the terminal, without maps: its failures are nobody's incidents.
 *
 * @param {string} root
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>} paths within `dist`
 */
export async function bundleTerminal(root) {
  const [doorFile, commandFile] = terminalFiles;
  const [command, guard] = await Promise.all([
    esbuild.build({
      ...common,
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: commandFile,
      target: 'node24',
      external: ['pg-native'],
      banner: { js: requireBanner },
      define: { 'process.env.NODE_ENV': '"production"' },
    }),
    esbuild.build({
      ...common,
      absWorkingDir: root,
      stdin: { contents: door, resolveDir: import.meta.dirname, sourcefile: 'desk.mjs' },
      outfile: doorFile,
      external: ['./server/desk.js'],
      supported: { 'top-level-await': true },
      target: 'node14',
    }),
  ]);
  const dist = join(root, 'dist');
  return [...command.outputFiles, ...guard.outputFiles].map(({ path, contents }) => ({
    path: relative(dist, path).replaceAll('\\', '/'),
    contents,
  }));
}

/** Builds the command alone: it is needed where nothing was built, and where the rest does not build. */
export async function buildTerminal(root) {
  for (const { path, contents } of await bundleTerminal(root)) {
    const file = join(root, 'dist', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  await esbuild.stop();
}
