/**
 * Keeps server code out of the browser.
 *
 * @param {Pick<import('esbuild').Metafile, 'inputs'>} metafile
 * @throws Error if the client bundle contains a file of `src/server` or imports a Node module
 */
export function requireClientInputs(metafile) {
  const imports = Object.entries(metafile.inputs).flatMap(([importer, input]) =>
    input.imports.map((found) => ({ importer, ...found })),
  );

  // Of what a server file imports by the name of an index, that file is the importer.
  const toImporter = (input) => input.replace(/^names of [^:]+:/, '');
  const ofServer = imports.find(
    ({ importer, path }) => path.startsWith('src/server/') && !toImporter(importer).startsWith('src/server/'),
  );
  if (ofServer) {
    throw new Error(
      `${toImporter(ofServer.importer)} imports ${ofServer.path}, which would send server code to the browser. Move code that both sides need to src/shared. To import only a type, use \`import type\`.`,
    );
  }
  const ofNode = imports.find(({ path, external }) => external && path.startsWith('node:'));
  if (ofNode) {
    throw new Error(
      `${ofNode.importer} imports ${ofNode.path}, which only Node has, but the file is part of the client bundle. Move it to src/server, or use an API that browsers also have.`,
    );
  }
}

/** Marks Node modules as external, so that `requireClientInputs` finds them and their importers in the metafile. */
export const nodeModulesInClient = {
  name: 'node-modules-in-client',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true }));
  },
};
