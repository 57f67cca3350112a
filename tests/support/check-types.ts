import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(project, 'node_modules/.bin/tsc');
/** Files that all apps have in common, and those that their tests use. */
const COMMON = ['package.json', 'src', 'build', 'build.mjs', 'bin', 'tests/support', 'tests/e2e/site.ts'];
/** The targets of `imports` in package.json that all apps share. */
const PUBLIC = {
  '#engine': 'src/shared/index.ts',
  '#engine/server': 'src/server/index.ts',
  '#engine/testing': 'tests/support/testing.ts',
};
/** The targets that each app has its own files for. */
const PRODUCTS = {
  '#product/': 'src/shared/product',
  '#product-server/': 'src/server/product',
  '#product-client/': 'src/client/product',
};
/** Whether a file differs between apps: the product, its tests, and files that import from the product. */
export function isOfApp(path: string): boolean {
  const parts = relative(project, path).split(sep);
  if (parts.includes('product')) return true;
  return (
    parts[0] === 'src' &&
    parts.length === 3 &&
    isFile(path) &&
    listImports(path).some((target) => target.includes('/product/'))
  );
}

/**
 * Type-checks several apps in one program, so that the files they share are checked once.
 *
 * @param folders contain only files for which `isOfApp` is true
 * @returns the compiler's messages for each folder, with paths relative to it; empty if there are none
 */
export async function checkTypes(folders: readonly string[]): Promise<string[]> {
  const common = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-types-')));
  const restore = folders.map(makeProductsRelative);
  try {
    for (const path of COMMON) {
      cpSync(join(project, path), join(common, path), { recursive: true, filter: (from) => !isOfApp(from) });
    }
    symlinkSync(join(project, 'node_modules'), join(common, 'node_modules'));
    const said = await runCompiler(common, folders);
    return toTexts(said, folders).map((text, index) => text + listMissing(folders[index] ?? '', common));
  } finally {
    for (const undo of restore) undo();
    rmSync(common, { recursive: true });
  }
}

/** Needed because the compiler resolves `#product/` once for all apps. @returns a function that restores the files */
function makeProductsRelative(folder: string): () => void {
  const before = new Map<string, string>();
  for (const file of globSync('{src,tests}/**/*.{ts,tsx}', { cwd: folder })) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const next = Object.entries(PRODUCTS).reduce((source, [name, target]) => {
      const way = relative(dirname(file), target);
      return source.replaceAll(`'${name}`, `'${way.startsWith('.') ? way : `./${way}`}/`);
    }, text);
    if (next === text) continue;
    before.set(path, text);
    writeFileSync(path, next);
  }
  return () => {
    for (const [path, text] of before) writeFileSync(path, text);
  };
}

async function runCompiler(common: string, folders: readonly string[]): Promise<string> {
  const roots = [common, ...folders];
  const paths = ['src/server', 'src/shared', 'src/client/product', 'tests/*/product'];
  const config = {
    extends: join(project, 'tsconfig.server.json'),
    // Files of an app resolve the shared files as if they were in the same folder.
    compilerOptions: {
      rootDirs: roots,
      paths: Object.fromEntries(Object.entries(PUBLIC).map(([name, path]) => [name, [join(common, path)]])),
    },
    include: roots.flatMap((root) => paths.map((path) => join(root, path))),
    exclude: folders.map((folder) => join(folder, 'src/server/product/build.mjs')),
  };
  const file = join(common, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(config));
  try {
    await promisify(execFile)(tsc, ['-p', file, '--pretty', 'false'], { cwd: dirname(common), maxBuffer: 2 ** 24 });
    return '';
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout || error);
  }
}

/** Groups the messages by folder. Each message begins with the path of its file, and can have indented lines. */
function toTexts(said: string, folders: readonly string[]): string[] {
  const texts = new Map(folders.map((folder) => [basename(folder), '']));
  for (const message of said.split(/^(?=\S)/m).filter(Boolean)) {
    const [, name = '', text = ''] = /^([^/]*)\/(.*)$/s.exec(message) ?? [];
    const before = texts.get(name);
    if (before === undefined) throw new Error(`This compiler message belongs to no app: ${message}`);
    texts.set(name, before + text);
  }
  return [...texts.values()];
}

/** Lists imports that the compiler would resolve in another app. */
function listMissing(folder: string, common: string): string {
  const files = globSync('{src,tests}/**/*.{ts,tsx}', { cwd: folder });
  return files
    .flatMap((file) => listImports(join(folder, file)).map((target) => ({ file, target })))
    .filter(({ file, target }) => ![folder, common].some((root) => isFile(join(root, dirname(file), target))))
    .map(({ file, target }) => `${file} imports ${target}, which does not exist.\n`)
    .join('');
}

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();

/** Lists the relative imports of a file. */
function listImports(path: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(/(?:^import |\bfrom |\bimport\()'(\.[^']+)'/gm);
  return [...found].map(([, target = '']) => target);
}
