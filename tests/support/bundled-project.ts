import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { createLocations } from '../../build/locations.mjs';
import { placeOutputs } from '../../build/output.mjs';
import { parseStack } from '../../src/server/errors/digest/read-error.ts';
import type { StackFrame } from '../../src/server/errors/failure.ts';

/** A small project, bundled like the real one: minified, with source maps one folder deeper and frame locations. */
export interface BundledProject {
  readonly dist: string;
  /** Runs the bundle's `fail()` and returns the stack frames of the error that it throws. */
  fail(): StackFrame[];
}

/** @param files by path in the project. `src/main.ts` is the entry and exports `fail()` */
export async function bundleProject(
  root: string,
  files: Record<string, string>,
  plugins: esbuild.Plugin[] = [],
): Promise<BundledProject> {
  for (const [path, text] of Object.entries(files)) write(join(root, path), text);
  const dist = join(root, 'dist');
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { main: 'src/main.ts' },
    outdir: 'dist/server',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'external',
    sourceRoot: '../',
    plugins,
  });
  const placed = placeOutputs(dist, outputFiles);
  for (const { path, contents } of placed) write(join(dist, path), contents);
  const maps = placed.filter(({ path }) => path.endsWith('.map'));
  write(join(dist, 'sites.json'), createLocations(root, maps));
  return { dist, fail: () => failIn(join(dist, 'server/main.js'), dist) };
}

/** Runs `fail()` of a module, in a separate process, because the test runner has its own module loader. */
export function failIn(module: string, dist: string, options: readonly string[] = []): StackFrame[] {
  const url = pathToFileURL(module).href;
  const script = `import('${url}').then((all) => all.fail()).catch((error) => process.stdout.write(error.stack))`;
  return parseStack(execFileSync(process.execPath, [...options, '-e', script], { encoding: 'utf8' }), { dist });
}

function write(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}
