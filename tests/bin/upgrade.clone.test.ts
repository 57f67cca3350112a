import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashFiles, listChangedFiles, toSpillwayText } from '../../bin/upgrade/spillway-file.mjs';
import {
  copyCommands,
  createWorkshop,
  type Kill,
  type RunOptions,
  readIfThere,
  type Said,
  type Workshop,
  writeFiles,
} from '../support/upgrade-repos.ts';

const LIMITS = Array.from({ length: 20 }, (_, line) => `export const limit${line} = ${line};`).join('\n');
const LATE = "import { Late } from './engine.ts';\n\nexport const home = Late;\n";

const OLD = {
  'package.json': toManifest({
    version: '0.3.0',
    scripts: { check: 'tsc', upgrade: 'node bin/upgrade.mjs', test: 'vitest run', old: 'node old.mjs' },
    dependencies: { express: '5.3.0', react: '19.3.1' },
    devDependencies: { vitest: '5.1.1', ws: '8.18.0' },
  }),
  'package-lock.json': toLock('0.3.0', { express: '5.3.0', react: '19.3.1', vitest: '5.1.1', ws: '8.18.0' }),
  'README.md': '# Spillway\n\n<!-- tour -->\n\nThe tour.\n\n<!-- /tour -->\n\nMore.\n',
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2026-11-24\n\nThe first.\n',
  '.env.example':
    '# The port.\n# PORT=3000\n\n# The host.\n# HOST=127.0.0.1\n\n# Failures of the tour.\n# TOUR_FAILURES=1\n',
  'docs/guide.md': '# Guide\n',
  'docs/images/one.txt': '1\n',
  'src/server/limits.ts': `${LIMITS}\n`,
  'src/server/app.ts': "export const app = 'old';\n",
  'src/server/old.ts': `${LIMITS}\n// Only here.\n`,
  'src/server/product/settings.ts': '  TOUR_FAILURES: {\n',
  'src/shared/product/home.ts': "export const home = 'the tour';\n",
  'tests/server/product/home.test.ts': '// The tour.\n',
  'tests/support/product/page-args.ts': 'export const args = 1;\n',
};

/** The files that the next release changes. */
const NEW = {
  'package.json': toManifest({
    version: '0.3.0',
    scripts: { check: 'tsc -b', upgrade: 'node bin/upgrade.mjs', test: 'vitest run' },
    dependencies: { express: '5.4.0', react: '19.3.1', zod: '4.0.0' },
    devDependencies: { vitest: '5.2.0', ws: '8.19.0' },
  }),
  'package-lock.json': toLock('0.3.0', {
    express: '5.4.0',
    react: '19.3.1',
    zod: '4.0.0',
    vitest: '5.2.0',
    ws: '8.19.0',
  }),
  'README.md': '# Spillway\n\n<!-- tour -->\n\nThe tour.\n\n<!-- /tour -->\n\nMuch more.\n',
  'CHANGELOG.md':
    '# Changelog\n\n## [Unreleased]\n\n### Upgrade from 0.3.0\n\nRename `Late`.\n\n- **Breaking:** `Late` is `Await`.\n\n## [0.3.0] - 2026-11-24\n\nThe first.\n',
  '.env.example':
    '# The port.\n# PORT=4000\n\n# The host.\n# HOST=127.0.0.1\n\n# Failures of the tour.\n# TOUR_FAILURES=1\n',
  'docs/guide.md': '# The guide\n',
  'docs/images/two.txt': '2\n',
  'bin/codemods/0.4.0.mjs':
    "import { readFileSync, writeFileSync } from 'node:fs';\nconst file = 'src/shared/product/home.ts';\nwriteFileSync(file, readFileSync(file, 'utf8').replaceAll('Late', 'Await'));\n",
  'src/server/limits.ts': `${LIMITS.replace('limit0 = 0', 'limit0 = 1000')}\n`,
  'src/server/app.ts': "export const app = 'new';\n",
  'src/server/old.ts': undefined,
  'src/server/renamed/new.ts': `${LIMITS}\n// Only here.\n`,
  'src/server/added.ts': 'export const added = true;\n',
  'src/shared/product/home.ts': "export const home = 'the new tour';\n",
  'tests/support/product/page-args.ts': 'export const args = 2;\n',
};

/** What an owner has changed. */
const OWN = {
  'package.json': toManifest({
    name: 'shop',
    version: '7.0.0',
    scripts: {
      check: 'tsc',
      upgrade: 'node bin/upgrade.mjs',
      test: 'vitest run tests/shared/product tests/server/product tests/client/product tests/e2e/product',
      'test:all': 'vitest run',
      old: 'node old.mjs',
      seed: 'node seed.mjs',
    },
    dependencies: { express: '5.3.0', kysely: '1.0.0', react: '19.3.1', ws: '8.18.0' },
    devDependencies: { vitest: '5.1.1' },
  }),
  'package-lock.json': toLock('7.0.0', {
    express: '5.3.0',
    kysely: '1.0.0',
    react: '19.3.1',
    vitest: '5.1.1',
    ws: '8.18.0',
  }),
  'README.md': '# Shop\n',
  '.env.example': '# The port.\n# PORT=3000\n\n# The host.\n# HOST=127.0.0.1\n\n# Where the shop is.\n# SHOP_URL=\n',
  '.gitignore': 'node_modules/\n',
  'docs/images/one.txt': undefined,
  'src/server/limits.ts': `${LIMITS.replace('limit19 = 19', 'limit19 = 19000')}\n`,
  'src/server/product/settings.ts': '  SHOP_URL: {\n',
  'src/shared/product/home.ts': LATE,
  'tests/server/product/home.test.ts': '// Of the shop.\n',
  'legacy/app.js': '// The old app.\n',
};

function toManifest(fields: object): string {
  return `${JSON.stringify({ name: 'spillway', private: true, ...fields }, null, 2)}\n`;
}

function toLock(version: string, packages: Readonly<Record<string, string>>): string {
  const entries = Object.entries(packages).map(([name, found]) => [`node_modules/${name}`, { version: found }]);
  return `${JSON.stringify({ name: 'spillway', version, lockfileVersion: 3, packages: { '': { name: 'spillway', version }, ...Object.fromEntries(entries) } }, null, 2)}\n`;
}

const RESOLVED = "export const app = 'resolved';\n";

let workshop: Workshop;
let upstream: string;
let template: string;
let released: Said;

beforeAll(async () => {
  workshop = createWorkshop();
  upstream = join(workshop.folder, 'upstream');
  mkdirSync(upstream);
  workshop.git(upstream, 'init', '--quiet');
  copyCommands(upstream);
  const key = workshop.createKey('key');
  workshop.git(upstream, 'config', 'user.signingKey', key);
  workshop.commit(upstream, 'Old', { ...OLD, 'bin/upgrade/allowed-signers': workshop.toSigner(key) });
  workshop.git(upstream, 'tag', '--sign', 'v0.3.0', '-m', 'Spillway 0.3.0');

  template = join(workshop.folder, 'template');
  cpSync(upstream, template, { recursive: true, filter: (path) => !path.endsWith('/.git') });
  workshop.git(template, 'init', '--quiet');
  const origin = toSpillwayText({ version: '0.3.0', upstream, files: hashFiles(upstream) });
  workshop.commit(template, 'Shop', { ...OWN, '.spillway.json': origin });

  workshop.commit(upstream, 'New', NEW);
  released = await workshop.run(upstream, ['bin/release.mjs', '0.4.0']);
});
afterAll(() => workshop.remove());

/** Returns a new copy of the owner's repository. */
function createOwner(files?: Readonly<Record<string, string | undefined>>): string {
  const folder = mkdtempSync(join(workshop.folder, 'owner-'));
  cpSync(template, folder, { recursive: true });
  if (files) workshop.commit(folder, 'More', files);
  return folder;
}

const runUpgrade = (folder: string, args: readonly string[], options?: RunOptions) =>
  workshop.run(folder, ['bin/upgrade.mjs', ...args], options);

/** Returns everything that an upgrade must not change before it is merged. */
function snapshot(folder: string): string {
  const files = workshop.git(folder, 'ls-files', '--others', '--cached', '--exclude-standard').split('\n');
  const texts = files.map((path) => `${path}\n${readIfThere(folder, path) ?? '(missing)'}`);
  const refs = workshop.git(folder, 'for-each-ref');
  return [workshop.git(folder, 'symbolic-ref', 'HEAD'), refs, workshop.git(folder, 'status', '--short'), ...texts].join(
    '\n',
  );
}

describe('a release', () => {
  it('sets the version, moves the heading of the changelog, and signs a tag', () => {
    expect(released).toMatchObject({ code: 0, out: expect.stringContaining('git push --atomic origin main v0.4.0') });
    expect(JSON.parse(read(upstream, 'package.json')).version).toBe('0.4.0');
    const lock = JSON.parse(read(upstream, 'package-lock.json'));
    expect([lock.version, lock.packages[''].version]).toEqual(['0.4.0', '0.4.0']);
    expect(read(upstream, 'CHANGELOG.md')).toMatch(
      /## \[Unreleased\]\n\n## \[0\.4\.0\] - \d{4}-\d\d-\d\d\n\n### Upgrade from 0\.3\.0/,
    );
    expect(workshop.git(upstream, 'rev-parse', 'v0.4.0^{commit}')).toBe(workshop.git(upstream, 'rev-parse', 'main'));
    expect(workshop.git(upstream, 'log', '-1', '--format=%s')).toBe('Name this version 0.4.0');
    expect(workshop.git(upstream, 'status', '--short')).toBe('');
  });

  it.each([
    ['an old version', '0.3.9', {}, {}, 'is not newer'],
    ['an empty changelog', '0.5.0', {}, {}, 'has nothing under "## [Unreleased]"'],
    [
      'a breaking change without instructions',
      '0.5.0',
      { 'CHANGELOG.md': '## [Unreleased]\n\n- **Breaking:** `a` is `b`.\n' },
      {},
      '### Upgrade from 0.4.0',
    ],
    [
      'tests that fail',
      '0.5.0',
      { 'CHANGELOG.md': '## [Unreleased]\n\n- One.\n' },
      { NPM_FAILS: 'test:all' },
      'failed',
    ],
    [
      'a key that is not listed',
      '0.5.0',
      { 'CHANGELOG.md': '## [Unreleased]\n\n- One.\n', 'bin/upgrade/allowed-signers': '# None.\n' },
      {},
      'add its public half',
    ],
  ])('is refused with %s', async (_, version, files, env, words) => {
    const folder = mkdtempSync(join(workshop.folder, 'releaser-'));
    cpSync(upstream, folder, { recursive: true });
    if (Object.keys(files).length > 0) workshop.commit(folder, 'More', files);
    const before = snapshot(folder);
    const { code, out } = await workshop.run(folder, ['bin/release.mjs', version], { env });
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(words) });
    expect(snapshot(folder)).toBe(before);
  });
});

describe('an upgrade', () => {
  let folder: string;
  let said: Said;
  beforeAll(async () => {
    folder = createOwner();
    said = await runUpgrade(folder, ['0.4.0']);
  });

  it('says what it changes, with the changelog', () => {
    expect(said.code, said.out).toBe(0);
    expect(said.out).toContain('From Spillway 0.3.0');
    expect(said.out).toContain('signed by releases@example.com');
    expect(said.out).toMatch(/Your changes are merged:\n {2}src\/server\/limits\.ts\n/);
    expect(said.out).toMatch(/stay deleted:\n {2}docs\/images\/two\.txt\n/);
    expect(said.out).toMatch(/stay as they are:\n {2}README\.md\n/);
    expect(said.out).toContain('express 5.3.0 -> 5.4.0');
    expect(said.out).toContain('**Breaking:** `Late` is `Await`.');
    expect(said.out).not.toContain('The first.');
    expect(said.out).toContain('git switch main && git merge upgrade-0.4.0');
  });

  it('replaces our files, merges shared and changed ones, and keeps yours', () => {
    expect(read(folder, 'src/server/app.ts')).toContain('new');
    expect(readIfThere(folder, 'src/server/old.ts')).toBeUndefined();
    expect(readIfThere(folder, 'src/server/added.ts')).toBeDefined();
    expect(read(folder, 'src/server/limits.ts')).toMatch(/limit0 = 1000;[\s\S]*limit19 = 19000;/);
    expect(read(folder, '.env.example')).toBe(
      '# The port.\n# PORT=4000\n\n# The host.\n# HOST=127.0.0.1\n\n# Where the shop is.\n# SHOP_URL=\n',
    );
    expect(read(folder, 'tests/support/product/page-args.ts')).toContain('= 2');
    expect(read(folder, 'README.md')).toBe(OWN['README.md']);
    expect(readIfThere(folder, 'docs/images/two.txt')).toBeUndefined();
    for (const path of [
      'src/server/product/settings.ts',
      'tests/server/product/home.test.ts',
      'legacy/app.js',
    ] as const) {
      expect(read(folder, path)).toBe(OWN[path]);
    }
  });

  it('merges package.json and its lockfile by key', () => {
    expect(JSON.parse(read(folder, 'package.json'))).toEqual({
      name: 'shop',
      private: true,
      version: '7.0.0',
      scripts: { ...JSON.parse(OWN['package.json']).scripts, check: 'tsc -b', old: undefined },
      dependencies: { express: '5.4.0', kysely: '1.0.0', react: '19.3.1', ws: '8.19.0', zod: '4.0.0' },
      devDependencies: { vitest: '5.2.0' },
    });
    const { packages, name, version } = JSON.parse(read(folder, 'package-lock.json'));
    expect({ name, version }).toEqual({ name: 'shop', version: '7.0.0' });
    expect(packages[''].dependencies).toHaveProperty('kysely');
    expect(packages['node_modules/express']).toEqual({ version: '5.4.0' });
    expect(packages['node_modules/kysely']).toEqual({ version: '1.0.0' });
  });

  it('runs the codemods in a commit after the merge', () => {
    expect(read(folder, 'src/shared/product/home.ts')).toBe(LATE.replaceAll('Late', 'Await'));
    expect(workshop.git(folder, 'log', '--format=%s', 'main..').split('\n')).toEqual([
      'Run the codemods from 0.3.0 to 0.4.0',
      'Upgrade Spillway from 0.3.0 to 0.4.0',
    ]);
    expect(workshop.git(folder, 'status', '--short')).toBe('');
  });

  it('notes the release, so that the next upgrade and the doctor know it', async () => {
    const { version, upstream: from, commit } = JSON.parse(read(folder, '.spillway.json'));
    expect({ version, from, commit }).toEqual({
      version: '0.4.0',
      from: upstream,
      commit: workshop.git(upstream, 'rev-parse', 'v0.4.0^{commit}'),
    });
    expect(listChangedFiles(folder)?.changed).toEqual(['src/server/limits.ts']);
    expect(await runUpgrade(folder, ['0.4.0'])).toMatchObject({ code: 1, out: expect.stringContaining('already has') });
  });
});

describe('the version', () => {
  it.each([
    ['missing', [], 'the newest: `npm run upgrade -- 0.4.0`'],
    ['unknown', ['0.9.0'], 'has no release 0.9.0'],
    ['older', ['0.3.0'], 'already has Spillway 0.3.0'],
    ['one of several', ['0.3.0', '0.4.0'], 'more than one version'],
    ['written as a tag', ['v0.4.0', '--check'], 'to 0.4.0'],
  ])('can be %s', async (_, args, words) => {
    const folder = createOwner();
    const before = snapshot(folder);
    expect((await runUpgrade(folder, args)).out).toContain(words);
    expect(snapshot(folder)).toBe(before);
  });
});

describe('the next upgrade', () => {
  it('starts from the release that the last one noted', async () => {
    const folder = createOwner();
    await runUpgrade(folder, ['0.4.0']);
    workshop.git(folder, 'switch', '--quiet', 'main');
    workshop.git(folder, 'merge', '--quiet', '--squash', 'upgrade-0.4.0');
    workshop.commit(folder, 'Upgrade', { 'src/server/added.ts': 'export const added = "by me";\n' });
    const newer = join(workshop.folder, 'newer');
    workshop.git(workshop.folder, 'clone', '--quiet', upstream, newer);
    workshop.git(newer, 'config', 'user.signingKey', workshop.git(upstream, 'config', 'user.signingKey'));
    workshop.commit(newer, 'More', {
      'CHANGELOG.md': `## [Unreleased]\n\n- More.\n\n${read(newer, 'CHANGELOG.md').replace('## [Unreleased]\n', '')}`,
      'src/server/app.ts': "export const app = 'newer';\n",
    });
    expect(await workshop.run(newer, ['bin/release.mjs', '0.5.0'])).toMatchObject({ code: 0 });
    const { code, out } = await runUpgrade(folder, ['0.5.0', '--from', newer]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('From Spillway 0.4.0') });
    expect(out).toMatch(
      /Your changes are merged:\n {2}src\/server\/added\.ts\n {2}src\/server\/limits\.ts\n\n## \[0\.5\.0\]/,
    );
    expect(read(folder, 'src/server/app.ts')).toContain('newer');
  });
});

describe('--check', () => {
  it('changes nothing, and accepts uncommitted changes', async () => {
    const folder = createOwner({ 'src/server/app.ts': "export const app = 'mine';\n" });
    writeFiles(folder, { 'src/server/app.ts': "export const app = 'unfinished';\n" });
    const before = snapshot(folder);
    const { code, out } = await runUpgrade(folder, ['0.4.0', '--check']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('src/server/app.ts (conflict)') });
    expect(snapshot(folder)).toBe(before);
    expect(await runUpgrade(folder, ['0.4.0'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('uncommitted changes'),
    });
    expect(snapshot(folder)).toBe(before);
  });
});

describe('conflicts', () => {
  it('are marked by git, and resolved with --continue', async () => {
    const folder = createOwner({ 'src/server/app.ts': "export const app = 'mine';\n" });
    const { code, out } = await runUpgrade(folder, ['0.4.0']);
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('npm run upgrade -- --continue') });
    expect(read(folder, 'src/server/app.ts')).toMatch(/<<<<<<< HEAD\n.*mine.*\n=======\n.*new.*\n>>>>>>> /);
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('src/server/app.ts'),
    });
    writeFiles(folder, { 'src/server/app.ts': RESOLVED });
    workshop.git(folder, 'add', 'src/server/app.ts');
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({ code: 0 });
    expect(read(folder, 'src/server/app.ts')).toBe(RESOLVED);
    expect(read(folder, 'src/shared/product/home.ts')).toContain('Await');
  });

  it('end as git says, with cherry-pick --continue or --abort', async () => {
    const folder = createOwner({ 'src/server/app.ts': "export const app = 'mine';\n" });
    await runUpgrade(folder, ['0.4.0']);
    workshop.git(folder, 'cherry-pick', '--abort');
    expect(workshop.git(folder, 'status', '--short')).toBe('');
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('conflicts'),
    });
    writeFiles(folder, { 'src/server/app.ts': RESOLVED });
    workshop.git(folder, 'add', 'src/server/app.ts');
    workshop.git(folder, '-c', 'core.editor=true', 'cherry-pick', '--continue');
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({ code: 0 });
    expect(read(folder, 'src/shared/product/home.ts')).toContain('Await');
  });

  it('in package.json concern only the keys that both sides changed', async () => {
    const manifest = OWN['package.json'].replace('"check": "tsc"', '"check": "make"');
    const folder = createOwner({ 'package.json': manifest });
    const { code, out } = await runUpgrade(folder, ['0.4.0']);
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('node bin/upgrade.mjs --continue') });
    const text = read(folder, 'package.json');
    expect(text.match(/^<<<<<<< /gm)).toHaveLength(1);
    expect(text).toMatch(/"check": "make",\n[^<>]*=======\n[^<>]*"check": "tsc -b",\n/);
    const ours = text.replace(/^<<<<<<< .*\n([\s\S]*?)=======\n[\s\S]*?>>>>>>> .*\n/m, '$1');
    expect(JSON.parse(ours)).toMatchObject({ scripts: { check: 'make' }, dependencies: { express: '5.4.0' } });
    expect(await runUpgrade(folder, ['--abort'])).toMatchObject({ code: 0 });
    expect(read(folder, 'package.json')).toBe(manifest);
  });
});

describe('a step that fails', () => {
  it.each(['install', 'ci', 'check'])('is repeated by --continue: %s', async (failing) => {
    const folder = createOwner();
    const { code, out } = await runUpgrade(folder, ['0.4.0'], { env: { NPM_FAILS: failing } });
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('--continue') });
    expect(await runUpgrade(folder, ['0.4.0'])).toMatchObject({ code: 1, out: expect.stringContaining('in progress') });
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({ code: 0 });
    expect(read(folder, 'src/shared/product/home.ts')).toContain('Await');
    expect(await runUpgrade(folder, ['--continue'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('No upgrade'),
    });
  });
});

describe('a signature', () => {
  const refused = { code: 1, out: expect.stringContaining('cannot be verified') };

  /** Returns a clone of the upstream whose tag v0.4.0 is made by `retag`, with a codemod that would leave a trace. */
  function createUpstream(retag: (folder: string) => void): string {
    const folder = join(mkdtempSync(join(workshop.folder, 'upstream-')), 'spillway');
    workshop.git(workshop.folder, 'clone', '--quiet', upstream, folder);
    workshop.git(folder, 'tag', '--delete', 'v0.4.0');
    retag(folder);
    return folder;
  }

  const sign = (folder: string, key: string) =>
    workshop.git(folder, '-c', `user.signingKey=${key}`, 'tag', '--sign', 'v0.4.0', '-m', 'Spillway 0.4.0');

  it.each<[string, (folder: string) => void]>([
    ['is missing', (folder) => workshop.git(folder, 'tag', 'v0.4.0', '-m', 'Spillway 0.4.0')],
    ['is missing, as the tag is', (folder) => workshop.git(folder, 'update-ref', 'refs/tags/v0.4.0', 'HEAD')],
    ["is a stranger's", (folder) => void sign(folder, workshop.createKey(`stranger-${Date.now()}`))],
    [
      'is made with a key that only the new release lists',
      (folder) => {
        const key = workshop.createKey(`new-${Date.now()}`);
        workshop.commit(folder, 'Key', { 'bin/upgrade/allowed-signers': workshop.toSigner(key) });
        sign(folder, key);
      },
    ],
    [
      'is of another version',
      (folder) => workshop.git(folder, 'update-ref', 'refs/tags/v0.4.0', workshop.git(folder, 'rev-parse', 'v0.3.0')),
    ],
    [
      'is of another commit',
      (folder) => {
        const tag = workshop.git(upstream, 'cat-file', 'tag', 'v0.4.0');
        workshop.commit(folder, 'Evil', { 'src/server/app.ts': 'evil();\n' });
        const changed = tag.replace(/^object .*/, `object ${workshop.git(folder, 'rev-parse', 'HEAD')}`);
        writeTag(folder, changed);
      },
    ],
    [
      'is of PGP',
      (folder) => {
        const tag = workshop.git(upstream, 'cat-file', 'tag', 'v0.4.0');
        writeTag(folder, tag.replaceAll('SSH SIGNATURE', 'PGP SIGNATURE'));
      },
    ],
  ])('is refused if it %s, before anything new runs', async (_, retag) => {
    const from = createUpstream(retag);
    const folder = createOwner();
    const before = snapshot(folder);
    expect(await runUpgrade(folder, ['0.4.0', '--from', from])).toMatchObject(refused);
    expect(snapshot(folder)).toBe(before);
    expect(readIfThere(folder, 'node_modules/installed')).toBeUndefined();
  });

  function writeTag(folder: string, text: string): void {
    writeFiles(workshop.folder, { tag: `${text}\n` });
    const id = workshop.git(folder, 'hash-object', '-t', 'tag', '-w', '--literally', join(workshop.folder, 'tag'));
    workshop.git(folder, 'update-ref', 'refs/tags/v0.4.0', id);
  }

  it.each(['a folder', 'an archive'])('is missing in %s, which needs --allow-unsigned', async (kind) => {
    const from = join(mkdtempSync(join(workshop.folder, 'files-')), 'spillway-0.4.0');
    mkdirSync(from);
    workshop.git(upstream, 'archive', '--prefix=spillway-0.4.0/', '-o', `${from}.tar.gz`, 'v0.4.0');
    workshop.git(upstream, `--work-tree=${from}`, 'checkout', '--force', 'v0.4.0', '--', '.');
    const folder = createOwner();
    const args = ['--from', kind === 'a folder' ? from : `${from}.tar.gz`];
    expect(await runUpgrade(folder, args)).toMatchObject({ code: 1, out: expect.stringContaining('--allow-unsigned') });
    const { code, out } = await runUpgrade(folder, [...args, '--allow-unsigned']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('without a verified signature') });
    expect(JSON.parse(read(folder, '.spillway.json'))).toMatchObject({ version: '0.4.0', upstream });
  });
});

describe('an interrupted upgrade', () => {
  let steps: readonly string[];
  let result: string;
  beforeAll(async () => {
    const folder = createOwner();
    ({ steps } = await runUpgrade(folder, ['0.4.0']));
    result = workshop.git(folder, 'rev-parse', 'HEAD^{tree}');
  });

  async function interrupt(kill: Kill): Promise<string> {
    const folder = createOwner();
    const { code, out } = await runUpgrade(folder, ['0.4.0'], { kill });
    expect(code, `${kill.when} ${kill.step}: ${out}`).toBeNull();
    return folder;
  }

  it('is undone by --abort or finished by --continue, at each step that was killed', async () => {
    for (const step of ['fetch', 'switch', 'cherry-pick', 'commit', 'ci', 'run --silent check']) {
      expect(steps.some((words) => words.includes(step))).toBe(true);
    }
    const before = snapshot(createOwner());
    const kills = steps.flatMap((_, index) =>
      (['before', 'during', 'after'] as const)
        .filter((when) => when !== 'during' || /\b(?:switch|cherry-pick|commit)\b/.test(steps[index] ?? ''))
        .map((when) => ({ when, step: index + 1 })),
    );
    const said: string[] = [];
    await inTurns(kills, async (kill) => {
      const aborted = await interrupt(kill);
      const { out } = await runUpgrade(aborted, ['--abort']);
      expect(out, `${kill.when} ${kill.step}`).toMatch(/was stopped|No upgrade is in progress/);
      expect(snapshot(aborted), `${kill.when} ${kill.step}`).toBe(before);

      const continued = await interrupt(kill);
      let next = await runUpgrade(continued, ['--continue']);
      said.push(next.out);
      if (next.out.includes('--abort')) await runUpgrade(continued, ['--abort']);
      if (next.code !== 0) next = await runUpgrade(continued, ['0.4.0']);
      expect(next.code, `${kill.when} ${kill.step}: ${next.out}`).toBe(0);
      expect(workshop.git(continued, 'rev-parse', 'HEAD^{tree}')).toBe(result);
      expect(workshop.git(continued, 'status', '--short')).toBe('');
    });
    expect(said.filter((out) => out.includes('which restores'))).not.toEqual([]);
  }, 300_000);

  it('can be undone if only some files of the command itself are left', async () => {
    const before = snapshot(createOwner());
    const folder = await interrupt({
      when: 'during',
      step: steps.findIndex((step) => step.includes('cherry-pick')) + 1,
    });
    rmSync(join(folder, 'bin/upgrade/steps.mjs'));
    const { code, out } = await runUpgrade(folder, ['--abort']);
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('git reset --hard\n') });
    rmSync(join(folder, '.git/index.lock'));
    workshop.git(folder, 'reset', '--hard');
    expect(await runUpgrade(folder, ['--abort'])).toMatchObject({ code: 0 });
    expect(snapshot(folder)).toBe(before);
  });

  it('can be interrupted again while --abort runs', async () => {
    const before = snapshot(createOwner());
    for (const when of ['before', 'during', 'after'] as const) {
      for (let step = 1; ; step += 1) {
        const folder = await interrupt({
          when: 'during',
          step: steps.findIndex((step) => step.includes('cherry-pick')) + 1,
        });
        const { code } = await runUpgrade(folder, ['--abort'], { kill: { when, step } });
        if (code === null) expect((await runUpgrade(folder, ['--abort'])).out).toMatch(/was stopped|No upgrade/);
        expect(snapshot(folder), `${when} ${step}`).toBe(before);
        if (code !== null) break;
      }
    }
  }, 120_000);
});

/** Runs a few at a time. */
async function inTurns<Item>(items: readonly Item[], use: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (const item of rest) await use(item);
    }),
  );
}

function read(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}
