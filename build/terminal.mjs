import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { requireBanner, serverTarget } from './bundles.mjs';
import { readOwnersBuild } from './owner.mjs';
import { toCommandFiles } from './stamp.mjs';

/** Commands look at the desk and the settings where the site does not start, so that they share no file with the site. */
const entries = { desk: 'src/server/terminal.ts', doctor: 'src/server/doctor.ts' };

/** Of the product the doctor alone takes something in: its settings. */
const loadsProduct = (command) => command === 'doctor';

/** The guard of the version is evaluated first; what comes behind it is only loaded where it lets it pass. */
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
 * A command for the terminal, without maps: its failures are nobody's incidents.
 *
 * @param {string} root
 * @param {'desk' | 'doctor'} command
 * @param {{ plugins: esbuild.Plugin[], alias: Record<string, string> }} [owner] what the settings of the product may need
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>} paths within `dist`
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
      ...(owner && loadsProduct(command) && { plugins: owner.plugins, alias: owner.alias }),
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
  const dist = join(root, 'dist');
  return [...behind.outputFiles, ...door.outputFiles].map(({ path, contents }) => ({
    path: relative(dist, path).replaceAll('\\', '/'),
    contents,
  }));
}

/**
 * Builds a command alone: it is needed where nothing was built, and where the rest does not build.
 *
 * @param {string} root
 * @param {'desk' | 'doctor'} command
 */
export async function buildCommand(root, command) {
  const owner = loadsProduct(command) ? await readOwnersBuild(root) : undefined;
  for (const { path, contents } of await bundleCommand(root, command, owner)) {
    const file = join(root, 'dist', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  await esbuild.stop();
}
