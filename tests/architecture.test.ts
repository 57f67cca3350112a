import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { isInProduct, isYours } from '../src/shared/whose-code.mjs';
import { hasDesk } from './support/has-desk.ts';
import { listBlocks } from './support/recipe-blocks.ts';

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)

  .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && path !== 'src/server/product/build.mjs');
/** Tests of the product, and templates, which become one. */
const ofProducts = ['tests', 'templates/empty', 'templates/accounts'].flatMap((top) =>
  existsSync(join(root, top))
    ? readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
        .map((path) => ({ at: `${top}/${path}`, path: `${top}/${path}`.replace(/^templates\/\w+\//, '') }))
        .filter(({ path }) => /\.tsx?$/.test(path) && isInProduct(path))
    : [],
);
/** The import aliases in package.json, such as `#engine`. */
const names = Object.entries<string>(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).imports);
const imports = files.flatMap((from) => listImports(from, readFileSync(join(root, from), 'utf8')));
const productImports = ofProducts.flatMap(({ at, path }) => listImports(path, readFileSync(join(root, at), 'utf8')));

/** Lists a file's imports within the project. Type imports count too: they also depend on the other side. */
function listImports(from: string, source: string): Import[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(from, source).module;
  const found = [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      name: moduleRequest.value,
      typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...staticExports
      .flatMap(({ entries }) => entries)
      .map(({ moduleRequest, isType }) => ({ name: moduleRequest?.value ?? '', typeOnly: isType })),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      name: source.slice(start + 1, end - 1),
      typeOnly: false,
    })),
  ];
  const resolve = (path: string) => (path.startsWith('#') ? toFile(path) : posix.join(posix.dirname(from), path));
  return found
    .filter(({ name }) => /^[.#]/.test(name))
    .map(({ name, typeOnly }) => ({ from, to: resolve(name), typeOnly }));
}

function toFile(name: string): string {
  for (const [pattern, target] of names) {
    const [start = '', end] = pattern.split('*');
    if (end === undefined ? name !== pattern : !name.startsWith(start)) continue;
    return posix.normalize(target.replace('*', name.slice(start.length)));
  }
  return `${name}, which is not in the "imports" of package.json`;
}

const sides = ['shared', 'client', 'server'];
const isIn = (path: string, ...folders: string[]) => folders.some((folder) => path.startsWith(`src/${folder}/`));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** The entry points: `#engine`, `#engine/server`, `#engine/client`, `#engine/tracker`. */
const indexes = names.map(([, target]) => posix.normalize(target)).filter((path) => /^src\/[^*]+\.ts$/.test(path));
/** What puts the engine, the desk and the product together. */
const COMPOSERS = /^src\/(?:server\/(?:main|main-develop)\.ts|client\/main\.tsx)$/;
const isEngine = (path: string) => isIn(path, ...sides) && !isInProduct(path) && !COMPOSERS.test(path);

/**
 * The rooms of the server, the lowest first. A room imports lower ones, and those beside it only in one direction. Files
 * beside the rooms are in the list too.
 */
const LEVELS = [
  ['request', 'limits.ts', 'settings.ts', 'start-error.ts', 'removed-settings.ts'],
  ['connection', 'errors', 'mail'],
  ['front', 'pages', 'api', 'config.ts', 'tracker', 'reports'],
  ['app.ts', 'define-product.ts', 'develop'],
  ['start'],
  // Nothing of the engine imports these.
  ['index.ts', 'tracker.ts'],
];

/** Shared files that the desk imports themselves. */
const OF_ALL = new Set(['src/shared/units.ts', 'src/shared/words.ts']);
/** The entry points for trackers, which can change with every version. */
const NOT_OF_PRODUCT = new Set(['src/client/index.ts', 'src/server/tracker.ts']);

/** Whether a product imports what is not for it. */
function isTooDeep({ from, to }: Import): boolean {
  return isInProduct(from) && !isInProduct(to) && (!indexes.includes(to) || NOT_OF_PRODUCT.has(to));
}

/** Returns the room of a file: `server/front`, `client/navigation`, `desk/server/store`, `desk/shared`, `product`. */
function toRoom(path: string): string {
  if (isInProduct(path)) return 'product';
  const [side = '', name = '', inDesk = ''] = path.split('/').slice(1);
  return side === 'desk' && name === 'server' ? `desk/server/${inDesk}` : `${side}/${name}`;
}

function levelOf(path: string): number {
  return LEVELS.findIndex((rooms) => rooms.includes(toRoom(path).replace('server/', '')));
}

describe('import boundaries', () => {
  it('finds the imports to check', () => {
    expect(imports.length).toBeGreaterThan(files.length / 2);
    // A product can import any file for which its build has a loader.
    expect(imports.filter(({ from, to }) => !isInProduct(from) && !/\.(tsx?|mjs|css|sql)$/.test(to))).toEqual([]);
  });

  it.each<[rule: string, isWrong: (edge: Import) => boolean, reason: string]>([
    [
      'shared code imports only shared code, and the product there the types of server files',
      ({ from, to, typeOnly }) =>
        isIn(from, 'shared', 'desk/shared') &&
        !isIn(to, 'shared', 'desk/shared') &&
        !(typeOnly && isInProduct(from) && isIn(to, 'server')),
      'Shared code runs on both sides, so it cannot depend on either: pass this in, or move it to src/shared. A page imports its server file with `import type`.',
    ],
    [
      'only the product and the desk import the entry points',
      ({ from, to }) => indexes.includes(to) && !isInProduct(from) && !isIn(from, 'desk'),
      'An index file loads everything that it exports: import the file that defines the name.',
    ],
    [
      'the product imports only them, its own files and packages',
      isTooDeep,
      'Import it from #engine or #engine/server. What is not there may change with each version of Spillway.',
    ],
    [
      'client and server do not import each other',
      ({ from, to }) =>
        (isIn(from, 'client', 'desk/client') && isIn(to, 'server', 'desk/server')) ||
        (isIn(from, 'server', 'desk/server') && isIn(to, 'client', 'desk/client')),
      'Client and server share code only through src/shared: move what both use there.',
    ],
    [
      'the engine imports neither the product nor the desk',
      ({ from, to }) => isEngine(from) && (isInProduct(to) || isIn(to, 'desk')),
      'The engine runs any product: pass routes, document, reporters and limits as arguments.',
    ],
    [
      'the desk imports only them, its own files, and the shared units and words',
      ({ from, to }) => isIn(from, 'desk') && !isIn(to, 'desk') && !indexes.includes(to) && !OF_ALL.has(to),
      'Import it from #engine, #engine/server, #engine/client or #engine/tracker, and add it to one of them if it is missing. Nothing of the product: it is replaced by your own.',
    ],
    [
      'inside the server, imports go one way',
      ({ from, to }) => isEngine(from) && isIn(from, 'server') && isIn(to, 'server') && levelOf(from) < levelOf(to),
      `Pass it in, or move it down. The rooms are, the lowest first: ${LEVELS.map((rooms) => rooms.join(', ')).join(' < ')}.`,
    ],
  ])('%s', (_rule, isWrong, reason) => {
    expect(imports.filter(isWrong).map(({ from, to }) => `${from} imports ${to}. ${reason}`)).toEqual([]);
  });

  it('tests and templates of a product do the same', () => {
    expect(ofProducts.length).toBeGreaterThan(0);
    const wrong = productImports.filter((edge) => isTooDeep(edge) && edge.to.startsWith('src/'));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}. Import it from #engine/testing.`)).toEqual([]);
  });

  it('no two rooms import each other, types included', () => {
    const between = imports.filter(({ from, to }) => toRoom(from) !== toRoom(to) && !COMPOSERS.test(from));
    const pairs = new Set(between.map(({ from, to }) => `${toRoom(from)} ${toRoom(to)}`));
    const wrong = between.filter(({ from, to }) => pairs.has(`${toRoom(to)} ${toRoom(from)}`));
    expect(
      wrong.map(
        ({ from, to }) =>
          `${from} imports ${to}, and ${toRoom(to)} is imported by ${toRoom(from)}. Move what both need to a lower room.`,
      ),
    ).toEqual([]);
    const rooms = files.filter((path) => isIn(path, 'server') && isEngine(path));
    expect(rooms.filter((path) => levelOf(path) < 0)).toEqual([]);
  });

  it.each([
    ['@sentry/node', 'src/server/reports/sentry/sentry.ts'],
    ['@sentry/react', 'src/client/reporting/sentry.ts'],
    ['@sentry/browser', 'src/client/reporting/sentry.ts'],
  ])('imports %s in only one file, except types', (sdk, file) => {
    const takes = new RegExp(`(?:\\bfrom|\\bimport\\(?)\\s*['"]${sdk}(?:/[^'"]*)?['"]`);
    const wrong = files.filter((path) => path !== file && takes.test(read(path).replace(/^import type [^;]*;/gm, '')));
    expect(
      wrong.map((path) => `${path} imports ${sdk}. Reports must be scrubbed and journaled first: use ${file}.`),
    ).toEqual([]);
  });

  it('has no cycles, type imports included', () => {
    // In the product, the types of a page come from its server file, and those of a form from all server files.
    const cycles = findCycles(imports.filter(({ typeOnly, from }) => !typeOnly || !isInProduct(from)));
    expect(
      cycles.map(
        (cycle) =>
          `${cycle.join(' -> ')}. Break the cycle: move what both modules need, often a type, to a third module.`,
      ),
    ).toEqual([]);
  });
});

/** Whether this is an app, whose docs can say what they like. `npm run own` takes this part out of the README. */
const isOwned = !read('README.md').includes('<!-- tour -->');

it('files that you edit in your app are the only files that the guide and the recipes ask you to edit', () => {
  const pages = ['docs/guide', 'docs/recipes'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const wrong = [...(isOwned ? [] : ['README.md']), ...pages].flatMap((page) =>
    listBlocks(read(page))
      .filter(({ file }) => /^(?:src|build|bin|tests)\b/.test(file) && !isInProduct(file) && !isYours(file))
      .map(({ file }) => `${page}: ${file}`),
  );
  expect(
    wrong.map(
      (found) => `${found} is Spillway's, and the next upgrade replaces it. Put the change into a product folder.`,
    ),
  ).toEqual([]);
});

it('files that you edit in your app are imported by a `main.ts` that is too short to need edits', () => {
  expect(read('src/server/main.ts').split('\n').length).toBeLessThan(20);
});

describe.skipIf(isOwned || !hasDesk)('files that the docs name', () => {
  const project = ['.ci', 'bench', 'bin', 'build', 'docs', 'src', 'tests'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
  );
  /** Ends a path in the project, or belongs to a build or an app. */
  const exists = (path: string) =>
    /^dist|product\//.test(path) || existsSync(join(root, path)) || project.some((file) => file.endsWith(`/${path}`));

  it('are in the project', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...listPages('docs'), ...listPages('docs/decisions')];
    const wrong = pages.flatMap((page) => {
      const spans = read(page).matchAll(/`([\w./-]+\.(?:tsx?|mjs|sql))[`:]/g);
      return [...spans].map(([, path = '']) => path).filter((path) => !exists(path));
    });
    expect(wrong).toEqual([]);
  });

  it("are where the architecture's tree shows them", () => {
    const tree = /^## The tree\n\n```\n(.+?)```/ms.exec(read('docs/architecture.md'))?.[1];
    const folders: string[] = [];
    const paths = (tree?.trim().split('\n') ?? []).flatMap((line) => {
      const [, indent = '', names = ''] = /^( *)((?:[\w.-]+(?:\/|\.\w+)\S*\s+)+)/.exec(`${line} `) ?? [];
      folders.length = indent.length / 2;
      const found = names
        .trim()
        .split(/\s+/)
        .map((name) => [...folders, name].join(''));
      folders.push(names.trim());
      return found;
    });
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !/^dist/.test(path) && !existsSync(join(root, path)))).toEqual([]);
  });

  function listPages(folder: string): string[] {
    return readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`);
  }
});

describe('dependencies that protect', () => {
  /** Names of dependencies that guard something. Add new ones here. */
  const GUARDS = [
    ...['scrubber', 'scrubberOf', 'scrubPath', 'policy', 'trust', 'origins', 'isOurs', 'limiter', 'overload', 'steps'],
    ...['takeCredentials', 'checkToken', 'isSecret', 'styleAttributes'],
    ...(hasDesk ? ['signIn', 'readAccess'] : []),
  ];
  /** Optional members that do not open anything when they are missing. */
  const ALLOWED = new Set([
    // The product's steps: without them, the list is empty.
    'src/server/define-product.ts: steps?:',
  ]);

  /** Lists optional members, and parameters with a default value, that are named like a guard. */
  function listOptionalGuards(source: string): string[] {
    const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
    const members = text.matchAll(new RegExp(`\\b(?:${GUARDS.join('|')})\\?:`, 'g'));
    const defaults = text.matchAll(new RegExp(`(?<=[{(,]\\s*)(?:${GUARDS.join('|')})(?:: [\\w.]+)? = `, 'g'));
    return [...members, ...defaults].map(([found]) => found.trim());
  }

  const sources = files
    .filter((path) => isIn(path, 'server', 'desk/server'))
    .map((path) => ({ path, source: read(path) }));
  const optional = sources.flatMap(({ path, source }) =>
    listOptionalGuards(source).map((found) => `${path}: ${found}`),
  );

  it('are required', () => {
    const wrong = optional.filter((found) => !ALLOWED.has(found));
    expect(
      wrong.map(
        (found) =>
          `${found} makes a guard optional: if a caller forgets it, nothing is protected and no test fails. Make it required. If it can be switched off, give it the type \`X | undefined\`, so that the caller has to pass undefined. In tests, use a fake from tests/support/unguarded.ts.`,
      ),
    ).toEqual([]);
  });

  it('are listed by names that exist', () => {
    const isMember = (name: string) => sources.some(({ source }) => new RegExp(`\\b${name}: `).test(source));
    expect(GUARDS.filter((name) => !isMember(name))).toEqual([]);
    expect([...ALLOWED].filter((allowed) => !optional.includes(allowed))).toEqual([]);
  });
});

function findCycles(edges: readonly Import[]): string[][] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path]);
      return;
    }
    if (done.has(path)) return;
    for (const { to } of next.get(path) ?? []) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return cycles;
}
