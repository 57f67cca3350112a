import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasTour } from '../../bin/own/tour.mjs';
import { listChangedFiles } from '../../bin/upgrade/spillway-file.mjs';
import { unsignedReleases } from '../../bin/upgrade/versions.mjs';
import { createVisitor, startApp } from '../support/owned-app.ts';
import { applyBlocks, listBlocks } from '../support/recipe-blocks.ts';
import { createWorkshop, type Said, type Workshop } from '../support/upgrade-repos.ts';

// Upgrades apps of earlier releases to a release of the files as they are here. Only Spillway's own repository can do
// that, with its history: `git fetch --unshallow`.

const project = fileURLToPath(new URL('../..', import.meta.url));

const hasReleases =
  hasTour(project) &&
  Object.values(unsignedReleases).every((commit) => {
    try {
      return execFileSync('git', ['cat-file', '-t', commit], { cwd: project, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return false;
    }
  });

/** What nothing reads any more. */
const GONE = [
  'bench/product',
  ...['csp', 'existing-app', 'field-errors', 'reporting', 'routes', 'steps', 'upgrade', 'api/send-invalid'].map(
    (name) => `src/server/product/${name}.ts`,
  ),
];

/** Installs by linking to the packages of this project. Everything else is npm's, without a network. */
const toNpm = (npm: string) => `if [ -n "$NPM_OFF" ]; then exit 0; fi
modules='${join(project, 'node_modules')}'
case "$1" in
  ci) rm -rf node_modules && mkdir node_modules && ln -s "$modules"/* "$modules/.bin" node_modules/;;
  install) exec '${npm}' "$@" --offline;;
  *) exec '${npm}' "$@";;
esac`;

describe.skipIf(!hasReleases)('an app of', () => {
  let workshop: Workshop;
  let upstream: string;
  let version: string;

  beforeAll(async () => {
    const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
    workshop = createWorkshop({ npm: toNpm(npm) });
    upstream = join(workshop.folder, 'spillway');
    workshop.git(project, 'clone', '--quiet', '--shared', project, upstream);
    copyProject(upstream);
    const key = workshop.createKey('key');
    workshop.git(upstream, 'config', 'user.signingKey', key);
    const [major, minor] = JSON.parse(read(upstream, 'package.json')).version.split('.').map(Number);
    version = `${major}.${minor + 1}.0`;
    const changelog = read(upstream, 'CHANGELOG.md');
    workshop.commit(upstream, 'Prepare', {
      'bin/upgrade/allowed-signers': workshop.toSigner(key),
      'CHANGELOG.md': changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n- A line of this test.\n'),
    });
    // The release's own checks are in other tests.
    expect(await workshop.run(upstream, ['bin/release.mjs', version], { env: { NPM_OFF: '1' } })).toMatchObject({
      code: 0,
    });
  });
  afterAll(() => workshop.remove());

  it('0.2.0 is upgraded without a manual step', async () => {
    const folder = join(workshop.folder, 'owner-0.2.0');
    workshop.git(workshop.folder, 'clone', '--quiet', upstream, folder);
    workshop.git(folder, 'switch', '--quiet', '--create', 'shop', unsignedReleases['0.2.0']);
    await writeOwner(folder, '0.2.0');
    const { code, out } = await upgrade(folder, [version]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('passes `npm run check`') });
    await expectToWork(folder);
  }, 600_000);

  it('0.1.0 is upgraded, with conflicts and the manual steps of its changelog', async () => {
    const folder = join(workshop.folder, 'owner-0.1.0');
    // Without history, as from an archive, and with a version of its own: the base has to be named.
    mkdirSync(folder);
    workshop.git(upstream, 'archive', '--output', `${folder}.tar`, unsignedReleases['0.1.0']);
    execFileSync('tar', ['-xf', `${folder}.tar`, '-C', folder]);
    workshop.git(folder, 'init', '--quiet', '--initial-branch=shop');
    workshop.commit(folder, 'An archive of 0.1.0', {});
    await writeOwner(folder, '0.1.0');
    expect(await upgrade(folder, [version])).toMatchObject({ code: 1, out: expect.stringContaining('--base') });

    const merged = await upgrade(folder, [version, '--base', '0.1.0']);
    const conflicts = ['src/server/main.ts', 'tests/support/product/page-args.ts'];
    expect(workshop.git(folder, 'diff', '--name-only', '--diff-filter=U').split('\n'), merged.out).toEqual(conflicts);
    workshop.git(folder, 'checkout', '--theirs', ...conflicts);
    workshop.git(folder, 'add', '--all');

    const continued = await workshop.run(folder, ['bin/upgrade.mjs', '--continue']);
    expect(continued).toMatchObject({ code: 1, out: expect.stringContaining('`npm run check` failed') });
    applyPage(folder, read(project, 'tests/fixtures/owners/0.1.0-by-hand.md'));
    for (const path of GONE) rmSync(join(folder, path), { recursive: true });
    workshop.commit(folder, 'Follow the changelog', {});
    const checked = await workshop.run(folder, ['bin/upgrade.mjs', '--continue']);
    expect({ code: checked.code, out: checked.out }).toEqual({ code: 0, out: expect.anything() });
    await expectToWork(folder);
  }, 600_000);

  /** Copies the files of this project, including what is not committed. */
  function copyProject(to: string): void {
    const list = (at: string, ...args: string[]) => workshop.git(at, 'ls-files', '-z', ...args).split('\0');
    for (const path of list(to)) if (path) rmSync(join(to, path));
    for (const path of new Set(list(project, '--cached', '--others', '--exclude-standard'))) {
      if (!path || !existsSync(join(project, path))) continue;
      mkdirSync(dirname(join(to, path)), { recursive: true });
      cpSync(join(project, path), join(to, path));
    }
  }

  /** Writes the app of `tests/fixtures/owners/<release>.md` into a clone of that release. */
  async function writeOwner(folder: string, release: '0.1.0' | '0.2.0'): Promise<void> {
    expect(await workshop.run(folder, ['bin/own.mjs', '--yes'])).toMatchObject({ code: 0 });
    applyPage(folder, read(folder, 'docs/recipes/database.md'));
    applyPage(folder, read(project, `tests/fixtures/owners/${release}.md`));
    rmSync(join(folder, 'tests/e2e/product'), { recursive: true });
    for (const path of ['package.json', 'package-lock.json']) {
      const json = JSON.parse(read(folder, path));
      const root = json.packages?.[''];
      for (const one of root ? [json, root] : [json]) Object.assign(one, { name: 'guest-book', version: '1.0.0' });
      Object.assign((root ?? json).dependencies, { 'ipaddr.js': '1.9.1' });
      writeFileSync(join(folder, path), `${JSON.stringify(json, null, 2)}\n`);
    }
    workshop.commit(folder, 'A guest book', {});
  }

  /** Runs the upgrade of the new release, because these apps do not have the command yet. */
  const upgrade = (folder: string, args: readonly string[]): Promise<Said> =>
    workshop.run(folder, [join(upstream, 'bin/upgrade.mjs'), ...args, '--from', upstream]);

  /** Runs the owner's tests, and tries the built app. */
  async function expectToWork(folder: string): Promise<void> {
    expect(workshop.git(folder, 'status', '--short')).toBe('');
    const { name, version: own, dependencies } = JSON.parse(read(folder, 'package.json'));
    expect({ name, own, dependency: dependencies['ipaddr.js'] }).toEqual({
      name: 'guest-book',
      own: '1.0.0',
      dependency: '1.9.1',
    });
    expect(JSON.parse(read(folder, '.spillway.json')).version).toBe(version);
    expect(listChangedFiles(folder)?.changed).toEqual(['build/licenses.mjs']);
    expect(read(folder, 'build/licenses.mjs')).toContain("'Artistic-2.0',");

    const tested = await workshop.run(folder, [
      join(folder, 'node_modules/vitest/vitest.mjs'),
      ...listTestArguments(folder),
    ]);
    expect({ code: tested.code, out: tested.out }).toEqual({ code: 0, out: expect.stringContaining('home.test.ts') });

    const app = await startApp(folder, { DATA_DIR: join(workshop.folder, 'data') });
    onTestFinished(async () => void (await app.stop()));
    const visitor = createVisitor(app.url);
    expect((await visitor.post('/', { _action: 'home.sign', text: 'Ada was here.' })).status).toBe(303);
    expect(await (await visitor.get('/')).text()).toContain('Ada was here.');
    expect(await (await visitor.get('/about')).text()).toMatch(/Addresses of ipv6[\s\S]*1 visitors/);
    expect(await (await visitor.get('/api/entries')).json()).toMatchObject({ entries: [{ text: 'Ada was here.' }] });
    expect(await (await visitor.get('/stock?a=1')).json()).toEqual({ query: { a: '1' } });
    await app.stop();
    rmSync(join(workshop.folder, 'data'), { recursive: true });
  }
});

/** Returns the arguments of the script `test`. */
function listTestArguments(folder: string): string[] {
  const { test } = JSON.parse(read(folder, 'package.json')).scripts as { test: string };
  return test.replace(/^vitest /, '').split(' ');
}

function applyPage(folder: string, page: string): void {
  applyBlocks(folder, listBlocks(page));
}

function read(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}
