import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as esbuild from 'esbuild';
import { requireBanner, serverTarget } from './bundles.mjs';
import * as destination from './destination.mjs';
import { engineByName } from './front-doors.mjs';
import { readOwnersBuild } from './owner.mjs';
import { toCommandFiles } from './stamp.mjs';

/** Entries of the commands. They also work if the site does not start, so they share no file with it. */
const entries = { ...destination.commands, doctor: 'src/server/doctor.ts' };

/** Only the doctor loads product code: the product's settings. */
const loadsProduct = (command) => command === 'doctor';

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
 * @param {{ plugins: esbuild.Plugin[], alias: Record<string, string> }} [owner] for the product's settings
 * @returns {Promise<{ outputFiles: esbuild.OutputFile[], metafile: Pick<esbuild.Metafile, 'inputs'> }>}
 */
export async function bundleCommand(root, command, owner) {
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
      ...(owner &&
        loadsProduct(command) && {
          // The settings import `#engine/server`, which would bring all of the engine.
          plugins: [engineByName(root), ...owner.plugins],
          alias: owner.alias,
        }),
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
  const owner = loadsProduct(command) ? await readOwnersBuild(root) : undefined;
  const { outputFiles } = await bundleCommand(root, command, owner);
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents);
  }
  await esbuild.stop();
}
