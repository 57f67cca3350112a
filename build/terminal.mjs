import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as esbuild from 'esbuild';
import { requireBanner, serverTarget } from './bundles.mjs';
import * as destination from './destination.mjs';
import { toCommandFiles } from './stamp.mjs';

/** Entries of the commands. They also work if the site does not start, so they share no file with it. */
const entries = destination.commands;

/** Returns the launcher, which checks Node's version and loads the command only if it is supported. */
const toDoor = (command) => `import { hasRequiredNode } from '../bin/require-node.mjs';
if (hasRequiredNode()) await import('./server/${command}.js');
`;

const common = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  legalComments: 'none',
  logLevel: 'silent',
};

/**
 * Bundles a command, without source maps, because its failures are not incidents.
 *
 * @param {string} root
 * @param {string} command
 * @returns {Promise<{ outputFiles: esbuild.OutputFile[], metafile: Pick<esbuild.Metafile, 'inputs'> }>}
 */
export async function bundleCommand(root, command) {
  const [doorFile, commandFile] = toCommandFiles(command);
  const [behind, door] = await Promise.all([
    esbuild.build({
      ...common,
      absWorkingDir: root,
      entryPoints: [entries[command]],
      outfile: commandFile,
      target: serverTarget,
      external: ['pg-native'],
      banner: { js: requireBanner },
      define: { 'process.env.NODE_ENV': '"production"' },
      metafile: true,
    }),
    esbuild.build({
      ...common,
      absWorkingDir: root,
      stdin: { contents: toDoor(command), resolveDir: import.meta.dirname, sourcefile: `${command}.mjs` },
      outfile: doorFile,
      external: [`./server/${command}.js`],
      supported: { 'top-level-await': true },
      target: 'node14',
    }),
  ]);
  return { outputFiles: [...behind.outputFiles, ...door.outputFiles], metafile: behind.metafile };
}

/**
 * Builds only one command. It is also needed if there is no build yet, or if the rest does not build.
 *
 * @param {string} root
 * @param {string} command
 */
export async function buildCommand(root, command) {
  const { outputFiles } = await bundleCommand(root, command);
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents);
  }
  await esbuild.stop();
}
