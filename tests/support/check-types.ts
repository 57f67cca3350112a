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
/** What all apps have in common, and what their tests use of it. */
const COMMON = ['package.json', 'src', 'build', 'build.mjs', 'bin', 'tests/support', 'tests/e2e/site.ts'];
/** What `imports` in package.json leads to, of what all apps have in common. */
const PUBLIC = {
  '#engine': 'src/shared/engine/index.ts',
  '#engine/server': 'src/server/engine/index.ts',
  '#engine/testing': 'tests/support/testing.ts',
};
/** The same of what each app has for itself. */
const PRODUCTS = {
  '#product/': 'src/shared/product',
  '#product-server/': 'src/server/product',
  '#product-client/': 'src/client/product',
};
const TREES = ['shared', 'client', 'server'] as const;
type Tree = (typeof TREES)[number];

/** Whether a file of the project differs from app to app: the product, its tests, and what names a file of it. */
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
 * Type-checks the parts of apps, all of them in one program for each tree, so that what they have in common is
 * checked once.
 *
 * @param folders each has what `isOfApp` and nothing else
 * @returns what the compiler said of each folder, with paths relative to it; the empty text when nothing is wrong
 */
export async function checkTypes(folders: readonly string[], trees: readonly Tree[] = TREES): Promise<string[]> {
  const common = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-types-')));
  const restore = folders.map(makeProductsRelative);
  try {
    for (const path of COMMON) {
      cpSync(join(project, path), join(common, path), { recursive: true, filter: (from) => !isOfApp(from) });
    }
    symlinkSync(join(project, 'node_modules'), join(common, 'node_modules'));
    const said = await Promise.all(trees.map((tree) => checkTree(tree, common, folders)));
    return toTexts(said.join(''), folders).map((text, index) => text + listMissing(folders[index] ?? '', common));
  } finally {
    for (const undo of restore) undo();
    rmSync(common, { recursive: true });
  }
}

/** The compiler looks `#product/` up once for all apps. @returns what puts the files back as they were */
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

async function checkTree(tree: Tree, common: string, folders: readonly string[]): Promise<string> {
  const roots = [common, ...folders];
  const paths = [`src/${tree}`, 'src/shared/**/*.d.ts', ...(tree === 'server' ? ['tests/*/product'] : [])];
  const config = {
    extends: join(project, `tsconfig.${tree}.json`),
    // Files of an app find those in common as if they were in one folder.
    compilerOptions: {
      rootDirs: roots,
      paths: Object.fromEntries(Object.entries(PUBLIC).map(([name, path]) => [name, [join(common, path)]])),
      allowJs: tree === 'server',
    },
    include: roots.flatMap((root) => paths.map((path) => join(root, path))),
    exclude: folders.map((folder) => join(folder, 'src/server/product/build.mjs')),
  };
  const file = join(common, `${tree}.json`);
  writeFileSync(file, JSON.stringify(config));
  try {
    await promisify(execFile)(tsc, ['-p', file, '--pretty', 'false'], { cwd: dirname(common), maxBuffer: 2 ** 24 });
    return '';
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout || error);
  }
}

/** The messages by folder. Each begins with the path of its file, and may go on in lines that are indented. */
function toTexts(said: string, folders: readonly string[]): string[] {
  const texts = new Map(folders.map((folder) => [basename(folder), '']));
  for (const message of said.split(/^(?=\S)/m).filter(Boolean)) {
    const [, name = '', text = ''] = /^([^/]*)\/(.*)$/s.exec(message) ?? [];
    const before = texts.get(name);
    if (before === undefined) throw new Error(`The compiler says of no app: ${message}`);
    texts.set(name, before + text);
  }
  return [...texts.values()];
}

/** What the compiler would find in another app. */
function listMissing(folder: string, common: string): string {
  const files = globSync('{src,tests}/**/*.{ts,tsx}', { cwd: folder });
  return files
    .flatMap((file) => listImports(join(folder, file)).map((target) => ({ file, target })))
    .filter(({ file, target }) => ![folder, common].some((root) => isFile(join(root, dirname(file), target))))
    .map(({ file, target }) => `${file} imports ${target}, which is not there.\n`)
    .join('');
}

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();

/** Of files beside it. */
function listImports(path: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(/(?:^import |\bfrom |\bimport\()'(\.[^']+)'/gm);
  return [...found].map(([, target = '']) => target);
}
