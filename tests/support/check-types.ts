import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { project } from './owned-app.ts';

/** Files that the tests of a product import. */
const OF_TESTS = ['tests/support', 'tests/e2e/site.ts'];
const CONFIG = 'tsconfig.types.json';
const BUILD_INFO = 'types.tsbuildinfo';

/** What the compiler found out about the files that all apps have, which saves half of its time. */
let known: string | undefined;

/** Type-checks an app. @returns the compiler's messages, with paths relative to the folder; empty if there are none */
export async function checkTypes(folder: string): Promise<string> {
  for (const path of OF_TESTS) {
    const isShared = (from: string) => basename(from) !== 'product';
    cpSync(join(project, path), join(folder, path), { recursive: true, filter: isShared });
  }
  const config = {
    extends: './tsconfig.server.json',
    compilerOptions: { incremental: true, tsBuildInfoFile: BUILD_INFO },
    include: ['src/server', 'src/shared', 'src/client/product', 'tests/*/product'],
    exclude: ['src/server/product/build.mjs'],
  };
  writeFileSync(join(folder, CONFIG), JSON.stringify(config));
  if (known !== undefined) writeFileSync(join(folder, BUILD_INFO), known);
  const said = await runCompiler(folder);
  known = readFileSync(join(folder, BUILD_INFO), 'utf8');
  return said;
}

async function runCompiler(cwd: string): Promise<string> {
  const tsc = join(project, 'node_modules/.bin/tsc');
  try {
    await promisify(execFile)(tsc, ['-p', CONFIG, '--pretty', 'false'], { cwd, maxBuffer: 2 ** 24 });
    return '';
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout || error);
  }
}
