import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Upgrades small repositories with the real commands. Only npm is replaced, by a script that logs what it is called with.

const project = fileURLToPath(new URL('../..', import.meta.url));
const COMMANDS = [
  'bin/command.mjs',
  'bin/upgrade.mjs',
  'bin/upgrade',
  'bin/require-node.mjs',
  'build/files.mjs',
  'src/shared/whose-code.mjs',
];
const LINES = Array.from({ length: 20 }, (_, line) => `export const line${line} = ${line};`).join('\n');
const changeLine = (line: number, value: string) => LINES.replace(`line${line} = ${line};`, `line${line} = ${value};`);

type Files = Readonly<Record<string, string | undefined>>;
const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
const toLock = (packages: object) => toJson({ lockfileVersion: 3, packages });

const OLD: Files = {
  '.gitignore': 'node_modules/\n',
  'package.json': toJson({
    name: 'spillway',
    version: '0.3.0',
    scripts: { check: 'tsc', test: 'vitest run' },
    dependencies: { express: '5.3.0', pg: '8.0.0', react: '19.3.1' },
    devDependencies: { 'better-auth': '1.7.0', vitest: '5.1.1', ws: '8.0.0' },
  }),
  'package-lock.json': toLock({ '': {}, 'node_modules/express': { version: '5.3.0' } }),
  'README.md': '# Spillway\n',
  'CHANGELOG.md': '# Changelog\n',
  'docs/guide.md': '# Guide\n',
  'src/server/app.ts': "export const app = 'old';\n",
  'src/server/limits.ts': LINES,
  'src/server/moved.ts': `${LINES}\n// Moved.`,
  'src/server/removed.ts': 'export const removed = 1;\n',
  'src/server/removed-and-edited.ts': 'export const edited = 1;\n',
  'src/forum/forum.ts': 'export const forum = 1;\n',
  'src/forum/store/rows.ts': 'export const rows = 1;\n',
  'src/server/product/index.ts': '// The tour.\n',
  'src/client/public/favicon.svg': '<svg/>\n',
  'tests/server/product/home.test.ts': '// The tour.\n',
  'tests/support/product/page-args.ts': 'export const args = 1;\n',
};

/** What the next release changes. */
const NEW: Files = {
  'package.json': toJson({
    name: 'spillway',
    version: '0.4.0',
    scripts: { check: 'tsc -b', test: 'vitest run' },
    dependencies: { express: '5.10.0', pg: '8.1.0', react: '19.3.1', ws: '8.0.0', zod: '4.0.0' },
    devDependencies: { 'better-auth': '1.8.0', vitest: '5.2.0' },
  }),
  'package-lock.json': toLock({ '': {}, 'node_modules/express': { version: '5.10.0' } }),
  'README.md': '# Spillway, again\n',
  'CHANGELOG.md': '# Changelog\n\nNew.\n',
  'docs/guide.md': '# The guide\n',
  'src/server/app.ts': "export const app = 'new';\n",
  'src/server/limits.ts': changeLine(0, '1000'),
  'src/server/moved.ts': undefined,
  'src/server/room/moved.ts': `${changeLine(0, '1000')}\n// Moved.`,
  'src/server/removed.ts': undefined,
  'src/server/removed-and-edited.ts': undefined,
  'src/server/added.ts': 'export const added = 1;\n',
  'src/forum/forum.ts': 'export const forum = 2;\n',
  'src/forum/store/new/index.ts': 'export const index = 2;\n',
  'src/forum/store/rows.ts': undefined,
  'src/server/rows.ts': 'export const rows = 1;\n',
  'src/server/product/index.ts': '// The new tour.\n',
  'src/server/product/new.ts': '// The new tour.\n',
  'src/client/public/favicon.svg': '<svg id="new"/>\n',
  'tests/support/product/page-args.ts': 'export const args = 2;\n',
};

/** What an owner has changed: no tour, no forum, and edits in files of Spillway. */
const OWN: Files = {
  'package.json': toJson({
    name: 'shop',
    version: '7.0.0',
    scripts: { check: 'tsc', test: 'vitest run tests/server/product', seed: 'node seed.mjs' },
    dependencies: { 'better-auth': '1.7.0', express: '5.9.0', kysely: '1.0.0', react: '19.3.1' },
    devDependencies: { vitest: '5.1.1', ws: '8.0.0' },
  }),
  'package-lock.json': toLock({ '': {}, 'node_modules/express': { version: '5.9.0' }, 'node_modules/kysely': {} }),
  'README.md': '# Shop\n',
  'src/server/limits.ts': changeLine(19, '19000'),
  'src/server/moved.ts': `${changeLine(19, '19000')}\n// Moved.`,
  'src/server/removed-and-edited.ts': 'export const edited = 2;\n',
  'src/forum/forum.ts': undefined,
  'src/forum/store/rows.ts': undefined,
  'src/server/product/index.ts': '// The shop.\n',
  'src/client/public/favicon.svg': undefined,
  'tests/server/product/home.test.ts': undefined,
  '.spillway.json': toJson({ version: '0.3.0' }),
};

/** What the owner has after the upgrade, besides what is as it was. */
const UPGRADED: Files = {
  'package-lock.json': toLock({ '': {}, 'node_modules/express': { version: '5.10.0' }, 'node_modules/kysely': {} }),
  'README.md': '# Shop\n',
  'docs/guide.md': '# The guide\n',
  'src/server/app.ts': "export const app = 'new';\n",
  'src/server/limits.ts': changeLine(0, '1000').replace('line19 = 19;', 'line19 = 19000;'),
  'src/server/moved.ts': `${changeLine(19, '19000')}\n// Moved.`,
  'src/server/room/moved.ts': `${changeLine(0, '1000')}\n// Moved.`,
  'src/server/removed.ts': undefined,
  'src/server/removed-and-edited.ts': 'export const edited = 2;\n',
  'src/server/added.ts': 'export const added = 1;\n',
  'src/forum/forum.ts': undefined,
  'src/forum/store/new/index.ts': undefined,
  'src/server/rows.ts': 'export const rows = 1;\n',
  'src/server/product/index.ts': '// The shop.\n',
  'src/server/product/new.ts': undefined,
  'src/client/public/favicon.svg': undefined,
  'tests/support/product/page-args.ts': 'export const args = 2;\n',
};

let root: string;
let env: NodeJS.ProcessEnv;
let upstream: string;

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function upgrade(folder: string, args: readonly string[], extra: NodeJS.ProcessEnv = {}) {
  rmSync(join(root, 'npm-calls'), { force: true });
  const options = { cwd: folder, env: { ...env, ...extra }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/upgrade.mjs', ...args], options);
  return { code: status, out: stdout + stderr, npm: readIfThere(root, 'npm-calls')?.trim().split('\n') ?? [] };
}

function commit(folder: string, message: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (text === undefined) rmSync(join(folder, path));
    else writeFileSync(join(folder, path), text);
  }
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '-m', message);
}

function readIfThere(folder: string, path: string): string | undefined {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
}

/** Makes an SSH key. @returns the path of its private half */
function createKey(name: string): string {
  const key = join(root, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key]);
  return key;
}

const toSigner = (key: string) => `releases@example.com namespaces="git" ${readFileSync(`${key}.pub`, 'utf8')}`;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-upgrades-')));
  const shell = Object.entries(process.env).filter(([name]) => !/^(?:GIT_|npm_|VITEST|NODE_ENV)/.test(name));
  env = {
    ...Object.fromEntries(shell),
    GIT_CONFIG_GLOBAL: join(root, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    PATH: [join(root, 'tools'), dirname(process.execPath), process.env.PATH].join(delimiter),
  };
  // Settings of the user must not matter.
  const settings = '[user]\nname = Ada\nemail = a@example.com\n[init]\ndefaultBranch = main\n[gpg]\nformat = ssh\n';
  writeFileSync(join(root, 'gitconfig'), `${settings}[diff]\nnoprefix = true\nrenames = false\n[color]\nui = always\n`);
  mkdirSync(join(root, 'tools'));
  const npm = `#!/bin/sh\necho "$*" >> '${root}/npm-calls'\ncase "$*" in "$NPM_FAILS") exit 1;; esac\n`;
  writeFileSync(join(root, 'tools/npm'), npm, { mode: 0o755 });

  upstream = join(root, 'upstream');
  mkdirSync(upstream);
  for (const path of COMMANDS) cpSync(join(project, path), join(upstream, path), { recursive: true });
  git(upstream, 'init', '--quiet');
  const key = createKey('key');
  git(upstream, 'config', 'user.signingKey', key);
  commit(upstream, 'Old', { ...OLD, 'bin/upgrade/allowed-signers': toSigner(key) });
  git(upstream, 'tag', '--sign', 'v0.3.0', '-m', 'Spillway 0.3.0');
  commit(upstream, 'New', NEW);
  git(upstream, 'tag', '--sign', 'v0.4.0', '-m', 'Spillway 0.4.0');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Makes a repository with an app of 0.3.0. @returns the app's folder */
function createOwner(kind: 'clone' | 'copy' | 'monorepo', files: Files = {}): string {
  const top = mkdtempSync(join(root, `${kind}-`));
  const folder = kind === 'monorepo' ? join(top, 'apps/shop') : top;
  if (kind === 'clone') {
    git(top, 'clone', '--quiet', upstream, '.');
    git(top, 'reset', '--quiet', '--hard', 'v0.3.0');
    git(top, 'tag', '--delete', 'v0.4.0');
  } else {
    git(top, 'init', '--quiet');
    mkdirSync(folder, { recursive: true });
    git(upstream, 'archive', '--output', `${top}.tar`, 'v0.3.0');
    execFileSync('tar', ['-xf', `${top}.tar`, '-C', folder]);
    if (kind === 'monorepo') writeFileSync(join(top, 'package.json'), '{}\n');
  }
  // A tag of the owner with the same name, and `upstream` as `npm run own` writes it.
  commit(folder, 'The shop', { ...OWN, ...files, '.spillway.json': toJson({ version: '0.3.0', upstream }) });
  git(folder, 'tag', 'v0.4.0');
  return folder;
}

const readAll = (folder: string, files: Files) =>
  Object.fromEntries(Object.keys(files).map((path) => [path, readIfThere(folder, path)]));

/** Everything that an upgrade that is refused must not change. */
const snapshot = (folder: string) => [git(folder, 'status', '--porcelain'), git(folder, 'stash', 'create')].join('\n');

describe.each(['clone', 'copy', 'monorepo'] as const)('an upgrade of a %s', (kind) => {
  let folder: string;
  let said: ReturnType<typeof upgrade>;
  beforeAll(() => {
    folder = createOwner(kind);
    said = upgrade(folder, ['0.4.0']);
  });

  it('stages what the release changed, without yours and what you deleted', () => {
    expect(said.code, said.out).toBe(0);
    expect(said.out).toContain('The signature of v0.4.0 is valid.');
    expect(said.out).toMatch(
      /you have your own\..*:\n {2}src\/server\/moved\.ts\n {2}src\/server\/removed-and-edited\.ts\n/,
    );
    expect(said.out).toContain('git reset --hard && npm ci');
    expect(said.npm).toEqual(['install --package-lock-only --ignore-scripts', 'ci', 'run check']);
    expect(readAll(folder, UPGRADED)).toEqual(UPGRADED);
    expect(git(folder, 'status', '--porcelain').match(/^(?:.[^ ]|\?\?).*/gm)).toBeNull(); // all of it is staged
  });

  it('merges package.json by key', () => {
    expect(JSON.parse(readIfThere(folder, 'package.json') ?? '')).toEqual({
      name: 'shop',
      version: '7.0.0',
      scripts: { check: 'tsc -b', test: 'vitest run tests/server/product', seed: 'node seed.mjs' },
      dependencies: {
        'better-auth': '1.8.0',
        express: '5.10.0',
        kysely: '1.0.0',
        react: '19.3.1',
        ws: '8.0.0',
        zod: '4.0.0',
      },
      devDependencies: { vitest: '5.2.0' },
    });
  });

  it('is followed by the next one', () => {
    expect(upgrade(folder, ['v0.4.0'])).toMatchObject({ code: 1, out: expect.stringContaining('uncommitted') });
    git(folder, 'commit', '--quiet', '-m', 'Upgrade');
    expect(upgrade(folder, ['v0.4.0'])).toMatchObject({ code: 1, out: expect.stringContaining('already has') });
    const next = join(root, `next-${kind}`);
    git(root, 'clone', '--quiet', upstream, next);
    commit(next, 'Newer', { 'src/server/app.ts': "export const app = 'newer';\n", 'src/forum/more.ts': '// More.\n' });
    git(next, 'tag', 'v0.5.0');
    const { code, out } = upgrade(folder, ['v0.5.0', '--from', next, '--allow-unsigned']);
    expect(code, out).toBe(0);
    expect(git(folder, 'diff', '--staged', '--name-only', '--relative').split('\n')).toEqual([
      '.spillway.json',
      'src/server/app.ts',
    ]);
  });
});

it('leaves ordinary marks in files that both changed, and lists them with your values in package.json', () => {
  const manifest = OWN['package.json']?.replace('"check": "tsc"', '"check": "make"');
  const own = { 'src/server/app.ts': "export const app = 'mine';\n", 'src/server/rows.ts': '// Mine.\n' };
  const folder = createOwner('copy', { ...own, 'package.json': manifest, 'src/server/room/moved.ts': '// Mine.\n' });
  const { code, out, npm } = upgrade(folder, ['v0.4.0']);
  expect(code).toBe(1);
  expect(out).toMatch(/with conflicts:\n {2}src\/server\/app\.ts\n/);
  expect(out).toContain('  scripts.check: you have "make", the release has "tsc -b"\n');
  expect(out).toMatch(/you have your own\..*\n.*\n.*\n {2}src\/server\/room\/moved\.ts\n {2}src\/server\/rows\.ts\n/);
  expect(npm).toEqual(['install --package-lock-only --ignore-scripts']);
  expect(readIfThere(folder, 'src/server/app.ts')).toMatch(
    /^<<<<<<< ours\n.*mine.*\n=======\n.*new.*\n>>>>>>> theirs\n$/,
  );
  expect(readAll(folder, { 'src/server/rows.ts': '', 'src/server/room/moved.ts': '' })).toEqual({
    'src/server/rows.ts': '// Mine.\n',
    'src/server/room/moved.ts': '// Mine.\n',
  });
  expect(git(folder, 'diff', '--name-only', '--diff-filter=U')).toBe('src/server/app.ts');
  git(folder, 'reset', '--quiet', '--hard');
  expect([git(folder, 'status', '--porcelain'), readIfThere(folder, 'src/server/app.ts')]).toEqual([
    '',
    own['src/server/app.ts'],
  ]);
});

it.each<[string, readonly string[], string]>([
  ['the tag is missing', [], 'Usage: npm run upgrade'],
  ['there is no such tag', ['v0.9.0'], 'v0.9.0'],
  ['the base is unknown', ['v0.4.0', '--base', 'v0.2.0'], 'has no v0.2.0, which your app is based on'],
  ['the base is your own commit', ['v0.4.0', '--base', 'HEAD'], 'HEAD is not a release of Spillway'],
  ['the upstream is unknown', ['v0.4.0', '--from', '/nowhere'], '/nowhere'],
])('changes nothing if %s', (_, args, words) => {
  const folder = createOwner('copy');
  const before = snapshot(folder);
  expect(upgrade(folder, args)).toMatchObject({ code: 1, out: expect.stringContaining(words), npm: [] });
  expect(snapshot(folder)).toBe(before);
});

it.each([
  ['pnpm', 'pnpm-lock.yaml'],
  ['yarn', 'yarn.lock'],
  ['bun', 'bun.lock'],
])('runs no npm in a workspace of %s, and names its commands', (manager, lockfile) => {
  const folder = createOwner('monorepo', { 'package-lock.json': undefined, [`../../${lockfile}`]: '' });
  const { code, out, npm } = upgrade(folder, ['v0.4.0']);
  expect({ code, npm }).toEqual({ code: 0, npm: [] });
  expect(out).toContain(`Run \`${manager} install && ${manager} run check\``);
  expect(out).toContain(`git reset --hard && ${manager} install`);
  expect(readIfThere(folder, 'src/server/app.ts')).toBe(NEW['src/server/app.ts']);
});

it('says how to go back if a step fails', () => {
  const { code, out } = upgrade(createOwner('copy'), ['v0.4.0'], { NPM_FAILS: 'run check' });
  expect({ code, out }).toEqual({
    code: 1,
    out: expect.stringMatching(/`npm run check` failed\.[\s\S]*git reset --hard/),
  });
});

describe('a signature', () => {
  const sign = (folder: string, key: string) =>
    void git(folder, '-c', `user.signingKey=${key}`, 'tag', '--sign', 'v0.4.0', '-m', 'Spillway 0.4.0');
  function writeTag(folder: string, text: string): void {
    writeFileSync(join(root, 'tag'), `${text}\n`);
    const id = git(folder, 'hash-object', '-t', 'tag', '-w', '--literally', join(root, 'tag'));
    git(folder, 'update-ref', 'refs/tags/v0.4.0', id);
  }

  it.each<[string, (folder: string) => void]>([
    ['is missing', (folder) => void git(folder, 'tag', 'v0.4.0', '-m', 'Spillway 0.4.0')],
    ['is missing, as the tag is', (folder) => void git(folder, 'tag', 'v0.4.0')],
    ["is a stranger's", (folder) => sign(folder, createKey(`stranger-${Date.now()}`))],
    [
      'is made with a key that only the new release lists',
      (folder) => {
        const key = createKey(`new-${Date.now()}`);
        commit(folder, 'Key', { 'bin/upgrade/allowed-signers': toSigner(key) });
        sign(folder, key);
      },
    ],
    [
      'is of another version',
      (folder) => void git(folder, 'update-ref', 'refs/tags/v0.4.0', git(folder, 'rev-parse', 'v0.3.0')),
    ],
    [
      'is of another commit',
      (folder) => {
        commit(folder, 'Evil', { 'src/server/app.ts': 'evil();\n' });
        const tag = git(upstream, 'cat-file', 'tag', 'v0.4.0');
        writeTag(folder, tag.replace(/^object .*/, `object ${git(folder, 'rev-parse', 'HEAD')}`));
      },
    ],
    [
      'is of PGP',
      (folder) =>
        writeTag(folder, git(upstream, 'cat-file', 'tag', 'v0.4.0').replaceAll('SSH SIGNATURE', 'PGP SIGNATURE')),
    ],
  ])('is refused if it %s, before anything new runs, unless you allow it', (_, retag) => {
    const from = mkdtempSync(join(root, 'retagged-'));
    git(from, 'clone', '--quiet', upstream, '.');
    git(from, 'tag', '--delete', 'v0.4.0');
    retag(from);
    const folder = createOwner('copy');
    const before = snapshot(folder);
    expect(upgrade(folder, ['v0.4.0', '--from', from])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/cannot be verified: [\s\S]*add --allow-unsigned/),
      npm: [],
    });
    expect(snapshot(folder)).toBe(before);
    const allowed = upgrade(folder, ['v0.4.0', '--from', from, '--allow-unsigned']);
    expect(allowed.out).toMatch(/^The signature of v0\.4\.0 was not verified\.|already has/);
  });
});
