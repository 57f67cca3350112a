/**
 * Keeps the server out of the browser: fails with a sentence where the client bundle takes in a file
 * of `src/server` or a module of Node's.
 *
 * @param {Pick<import('esbuild').Metafile, 'inputs'>} metafile
 */
export function requireClientInputs(metafile) {
  const imports = Object.entries(metafile.inputs).flatMap(([importer, input]) =>
    input.imports.map((found) => ({ importer, ...found })),
  );

  const ofServer = imports.find(
    ({ importer, path }) => path.startsWith('src/server/') && !importer.startsWith('src/server/'),
  );
  if (ofServer) {
    throw new Error(
      `${ofServer.importer} imports ${ofServer.path}, so that the browser would get a file of the server, with whatever it knows. Move what both sides need to src/shared; a type alone can be taken with \`import type\` from there.`,
    );
  }
  const ofNode = imports.find(({ path, external }) => external && path.startsWith('node:'));
  if (ofNode) {
    throw new Error(
      `${ofNode.importer} imports ${ofNode.path}, which only Node has, and it is part of the client bundle. Move it to src/server, or use what browsers have too.`,
    );
  }
}

/** Lets imports of Node's modules pass into the metafile, where `requireClientInputs` names their importer. */
export const nodeModulesInClient = {
  name: 'node-modules-in-client',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true }));
  },
};
