import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { sortOutputs } from '../../build/output.mjs';
import { createLocations } from '../../build/sites.mjs';
import { toFrameFile } from '../../src/server/errors/digest/read-error.ts';
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
  const { unserved } = sortOutputs(dist, outputFiles);
  for (const { path, contents } of unserved) write(join(dist, path), contents);
  const maps = unserved.filter(({ path }) => path.endsWith('.map'));
  write(join(dist, 'sites.json'), createLocations(root, maps));
  return {
    dist,
    fail() {
      // In a separate process, because the test runner has its own module loader.
      const url = pathToFileURL(join(dist, 'server/main.js')).href;
      const script = `import('${url}').then((bundle) => bundle.fail()).catch((error) => process.stdout.write(error.stack))`;
      const stack = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
      return readFrames(stack, dist);
    },
  };
}

function readFrames(stack: string, dist: string): StackFrame[] {
  return stack.split('\n').flatMap((line) => {
    const match = /^ +at (?:(.+) \()?(file:.+):(\d+):(\d+)\)?$/.exec(line);
    if (!match) return [];
    const [, name = '', file = '', row, column] = match;
    return [{ file: toFrameFile(file, { dist }), line: Number(row), column: Number(column), function: name }];
  });
}

function write(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}
