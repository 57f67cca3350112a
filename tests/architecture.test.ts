import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listBlocks } from './support/recipe-blocks.ts';

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => /\.tsx?$/.test(path));
/** `#engine` and the like, as package.json explains them. */
const names = Object.entries<string>(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).imports);
const imports = files.flatMap((from) => listImports(from, readFileSync(join(root, from), 'utf8')));

/** What a file imports of ours, whatever it takes: a type is knowledge of the other side too. */
function listImports(from: string, source: string): Import[] {
  const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const statements = text.matchAll(/^(?:import|export)\b(?:([^;'"=]*?)\bfrom)?\s*['"]([.#][^'"]+)['"]/gm);
  const calls = text.matchAll(/\bimport\(\s*['"]([.#][^'"]+)['"]\s*\)/g);
  const resolve = (path: string) => (path.startsWith('#') ? toFile(path) : posix.join(posix.dirname(from), path));
  return [
    ...[...statements].map(([, clause = '', path = '']) => ({ from, to: resolve(path), typeOnly: isTypeOnly(clause) })),
    ...[...calls].map(([, path = '']) => ({ from, to: resolve(path), typeOnly: false })),
  ];
}

function toFile(name: string): string {
  for (const [pattern, target] of names) {
    const [start = '', end] = pattern.split('*');
    if (end === undefined ? name !== pattern : !name.startsWith(start)) continue;
    return posix.normalize(target.replace('*', name.slice(start.length)));
  }
  return `${name}, which package.json does not know`;
}

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true;
  const names = /^\s*\{([^}]*)\}\s*$/.exec(clause)?.[1];
  return names?.split(',').every((name) => name.trim() === '' || /^\s*type\s/.test(name)) ?? false;
}

const isIn = (path: string, ...folders: string[]) => folders.some((folder) => path.startsWith(`src/${folder}/`));
const sentences = (found: readonly Import[], reason: string) =>
  found.map(({ from, to }) => `${from} imports ${to}. ${reason}`);
const engines = ['shared/engine', 'client/engine', 'server/engine'];
const products = ['shared/product', 'client/product', 'server/product'];
const desks = ['shared/desk', 'client/desk', 'server/desk'];

describe('who may import whom', () => {
  it('finds the imports that it judges', () => {
    expect(imports.length).toBeGreaterThan(files.length / 2);
    expect(imports.filter(({ to }) => !/\.(tsx?|css)$/.test(to))).toEqual([]);
    expect(
      listImports(
        'src/a/b.ts',
        "import type { X } from './x.ts';\nimport { type A, b } from '../y.ts';\nimport './z.css';\nexport const app = './app.js';",
      ),
    ).toEqual([
      { from: 'src/a/b.ts', to: 'src/a/x.ts', typeOnly: true },
      { from: 'src/a/b.ts', to: 'src/y.ts', typeOnly: false },
      { from: 'src/a/b.ts', to: 'src/a/z.css', typeOnly: false },
    ]);
  });

  it('keeps shared to itself', () => {
    const wrong = imports.filter(({ from, to }) => isIn(from, 'shared') && !isIn(to, 'shared'));
    expect(
      sentences(
        wrong,
        'What is shared runs on both sides, so it may know neither: pass it in, or move it to src/shared.',
      ),
    ).toEqual([]);
  });

  it('leaves the public names to the product', () => {
    const indexes = names.map(([, target]) => posix.normalize(target)).filter((path) => path.endsWith('/index.ts'));
    const wrong = imports.filter(({ from, to }) => indexes.includes(to) && !isIn(from, ...products));
    expect(
      sentences(wrong, 'An index brings everything that it names: import the file that a name comes from.'),
    ).toEqual([]);
  });

  it('keeps client and server apart', () => {
    const wrong = imports.filter(
      ({ from, to }) => (isIn(from, 'client') && isIn(to, 'server')) || (isIn(from, 'server') && isIn(to, 'client')),
    );
    expect(
      sentences(
        wrong,
        'Client and server meet in src/shared alone: what one takes from the other is a contract, and belongs there.',
      ),
    ).toEqual([]);
  });

  it('keeps the engine free of product and desk', () => {
    const wrong = imports.filter(({ from, to }) => isIn(from, ...engines) && isIn(to, ...products, ...desks));
    expect(
      sentences(wrong, 'The engine runs any product: routes, document, reporters and limits come to it as arguments.'),
    ).toEqual([]);
  });

  it('keeps the desk free of the product', () => {
    const wrong = imports.filter(({ from, to }) => isIn(from, ...desks) && isIn(to, ...products));
    expect(sentences(wrong, "The product is the owner's to replace: the desk must stand without it.")).toEqual([]);
  });

  it('keeps the doctor out of the server', () => {
    const wrong = imports.filter(
      ({ from, to }) => isIn(to, 'server/doctor') && !isIn(from, 'server/doctor') && from !== 'src/server/doctor.ts',
    );
    expect(
      sentences(
        wrong,
        'The doctor is a command with a bundle of its own: what it shares with the server belongs there.',
      ),
    ).toEqual([]);
  });

  it.each([
    ['@sentry/node', 'src/server/sentry/sentry.ts'],
    ['@sentry/react', 'src/client/engine/reporting/sentry.ts'],
    ['@sentry/browser', 'src/client/engine/reporting/sentry.ts'],
  ])('takes %s into one file alone', (sdk, file) => {
    const takes = new RegExp(`(?:\\bfrom|\\bimport\\(?)\\s*['"]${sdk}(?:/[^'"]*)?['"]`);
    const wrong = files.filter((path) => path !== file && takes.test(readFileSync(join(root, path), 'utf8')));
    expect(
      wrong.map((path) => `${path} imports ${sdk}. What is reported is scrubbed and journaled first: ask ${file}.`),
    ).toEqual([]);
  });

  it('has no cycles, type imports included', () => {
    // In the product, `actions.ts` and its pages refer to each other's types by design.
    const cycles = findCycles(imports.filter(({ typeOnly, from }) => !typeOnly || !isIn(from, ...products)));
    expect(
      cycles.map(
        (cycle) =>
          `${cycle.join(' -> ')}. A cycle has no first module to read: move what both need, often a type, to a third one.`,
      ),
    ).toEqual([]);
  });

  it('would find a cycle', () => {
    const edge = (from: string, to: string) => ({ from, to, typeOnly: false });
    expect(findCycles([edge('a', 'b'), edge('b', 'c'), edge('c', 'b'), edge('a', 'd')])).toEqual([['b', 'c', 'b']]);
  });
});

describe("the owner's side", () => {
  it('is all that guide and recipes ask anybody to edit', () => {
    const pages = ['docs/guide', 'docs/recipes'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    );
    const wrong = ['README.md', ...pages].flatMap((page) =>
      listBlocks(readFileSync(join(root, page), 'utf8'))
        .filter(({ file }) => /^(?:src|build|bin|tests)\b/.test(file) && !/^(?:src|tests)\/\w+\/product\//.test(file))
        .map(({ file }) => `${page}: ${file}`),
    );
    expect(
      wrong.map(
        (found) =>
          `${found} is Spillway's, and the next upgrade replaces it. Put what is needed into a product folder.`,
      ),
    ).toEqual([]);
  });

  it('is taken in by a `main.ts` that nobody has to edit', () => {
    expect(readFileSync(join(root, 'src/server/main.ts'), 'utf8').split('\n').length).toBeLessThan(20);
  });
});

describe('links and forms of pages', () => {
  const RouterParts = new Set(['Link', 'NavLink', 'Form']);

  /** What a file takes from React Router that is ours to have. */
  function listRouterParts(source: string): string[] {
    const clauses = source.matchAll(/^(?:import|export)\s+([^;'"]*?)\s*from\s*['"]react-router(?:\/dom)?['"]/gm);
    return [...clauses].flatMap(([, clause = '']) => {
      if (clause.includes('*')) return [clause];
      const names = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
      return names
        .split(',')
        .map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')
        .filter((name) => RouterParts.has(name));
    });
  }

  it('are our own in the product', () => {
    const wrong = files
      .filter((path) => isIn(path, ...products))
      .flatMap((path) => listRouterParts(readFileSync(join(root, path), 'utf8')).map((name) => ({ path, name })));
    expect(
      wrong.map(
        ({ path, name }) =>
          `${path} takes ${name} from React Router, whose links and forms cost more and prefetch nothing here: in data mode their \`prefetch\` silently does nothing. Take Link and NavLink from #engine, Form from #product/actions.ts, and name what else you take.`,
      ),
    ).toEqual([]);
  });

  it('would be found, whatever they are called', () => {
    expect(listRouterParts("import { Link as A, useParams } from 'react-router';")).toEqual(['Link']);
    expect(
      listRouterParts("export { NavLink } from 'react-router';\nimport { Form } from 'react-router/dom';"),
    ).toEqual(['NavLink', 'Form']);
    expect(listRouterParts("import * as Router from 'react-router';")).toEqual(['* as Router']);
    expect(listRouterParts("import { Outlet } from 'react-router';")).toEqual([]);
  });
});

describe('what protects', () => {
  /** Names of dependencies that guard something. A new one belongs in this list. */
  const GUARDS = [
    'scrubber',
    'scrubberOf',
    'scrubPath',
    'policy',
    'trust',
    'origins',
    'isOurs',
    'limiter',
    'overload',
    'bodies',
    'steps',
    'mayRead',
    'takeCredentials',
    'checkToken',
    'signIn',
    'readAccess',
    'toVisitor',
    'isSecret',
    'styleAttributes',
  ];
  /** Optional, and opens nothing. */
  const ALLOWED = new Set([
    // What a product has: without it, the list is empty.
    'src/server/engine/product.ts: steps?:',
    // Only shown to operators.
    'src/server/boot/watch-server.ts: limiter?:',
    'src/server/boot/watch-server.ts: overload?:',
    // Addresses of scripts in a stack.
    'src/server/engine/errors/digest/frame-file.ts: origins?:',
    // Without it a failure names no visitor.
    'src/server/engine/errors/create-failure.ts: toVisitor?:',
  ]);

  /** Optional members, and parameters with a default, that have the name of a guard. */
  function listOptionalGuards(source: string): string[] {
    const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
    const members = text.matchAll(new RegExp(`\\b(?:${GUARDS.join('|')})\\?:`, 'g'));
    const defaults = text.matchAll(new RegExp(`(?<=[{(,]\\s*)(?:${GUARDS.join('|')})(?:: [\\w.]+)? = `, 'g'));
    return [...members, ...defaults].map(([found]) => found.trim());
  }

  const sources = files
    .filter((path) => isIn(path, 'server'))
    .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }));
  const optional = sources.flatMap(({ path, source }) =>
    listOptionalGuards(source).map((found) => `${path}: ${found}`),
  );

  it('is required', () => {
    const wrong = optional.filter((found) => !ALLOWED.has(found));
    expect(
      wrong.map(
        (found) =>
          `${found} makes something optional that protects: a caller who forgets it opens what it guards, and no test fails. Make it required. Where it can be switched off, its type is \`X | undefined\`, and the caller says so. Tests take a named fake from tests/support/unguarded.ts.`,
      ),
    ).toEqual([]);
  });

  it('is known by names that exist', () => {
    const isMember = (name: string) => sources.some(({ source }) => new RegExp(`\\b${name}: `).test(source));
    expect(GUARDS.filter((name) => !isMember(name))).toEqual([]);
    expect([...ALLOWED].filter((allowed) => !optional.includes(allowed))).toEqual([]);
  });

  it('would be found, as a member or with a default', () => {
    expect(listOptionalGuards('readonly scrubber?: Scrubber;')).toEqual(['scrubber?:']);
    expect(listOptionalGuards('constructor(scrubPath: ScrubPath = (path) => path) {')).toEqual([
      'scrubPath: ScrubPath =',
    ]);
    expect(listOptionalGuards('function f({ log, limiter = createLimiter() }: Options) {')).toEqual(['limiter =']);
    expect(listOptionalGuards('const scrubber = a; readonly limiter: Limiter | undefined; this.limiter = b;')).toEqual(
      [],
    );
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
