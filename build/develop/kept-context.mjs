import * as esbuild from 'esbuild';
import { reuse } from '../reuse.mjs';

/**
 * Creates an incremental build of code that is not the product's. The first build is reused from an earlier
 * `npm run dev`, if it would be the same.
 *
 * @template {object} Extra
 * @param {string} name
 * @param {esbuild.BuildOptions} options
 * @param {{ root: string, owner: import('../owner.mjs').OwnersBuild, entries?: unknown, toExtra?: () => Extra }} about
 *   `entries` is what the product decides on, and `toExtra` returns what else to keep of a build
 */
export function createKeptContext(name, options, { root, owner, entries = options.entryPoints, toExtra }) {
  let context;
  let isFirst = true;

  async function rebuild() {
    context ??= await esbuild.context(options);
    return { ...(await context.rebuild()), ...toExtra?.() };
  }

  return {
    dispose: () => context?.dispose(),
    rebuild() {
      if (!isFirst) return rebuild();
      isFirst = false;
      return reuse(name, { root, dev: true, owner, entries }, rebuild);
    },
  };
}
