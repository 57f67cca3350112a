import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nameRelease, readRelease } from '../../build/release.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

function createRepository(files: Record<string, string>): string {
  const root = createFolder(onTestFinished);
  writeFiles(root, files);
  return root;
}

it.each<[name: string, files: Record<string, string>, folder?: string]>([
  ['a branch', { '.git/HEAD': 'ref: refs/heads/main', '.git/refs/heads/main': COMMIT }],
  ['no branch', { '.git/HEAD': COMMIT }],
  ['a packed branch', { '.git/HEAD': 'ref: refs/heads/main', '.git/packed-refs': `# pack\n${COMMIT} refs/heads/main` }],
  [
    'a worktree',
    {
      '.git': `gitdir: repository/worktrees/x`,
      'repository/worktrees/x/HEAD': 'ref: refs/heads/x',
      'repository/worktrees/x/commondir': '../..',
      'repository/refs/heads/x': COMMIT,
    },
  ],
  ['no branch, in a folder of the repository', { '.git/HEAD': COMMIT, 'apps/web/package.json': '{}' }, 'apps/web'],
])('uses the commit that is checked out, on %s', (_name, files, folder = '') => {
  const root = join(createRepository(files), folder);
  expect(readRelease(root, {})).toBe('0123456789ab');
  expect(readRelease(root, { RELEASE: ' v1.4.0 ' })).toBe('v1.4.0');
});

it.each<[string, Record<string, string>]>([
  ['no repository', {}],
  ['no commit', { '.git/HEAD': 'ref: refs/heads/main' }],
  ['something else', { '.git/HEAD': 'canary' }],
])('has no name with %s', (_name, files) => {
  expect(readRelease(createRepository(files), {})).toBeUndefined();
});

describe('the name of a build', () => {
  function createClone(files: Record<string, string> = {}): string {
    const root = createRepository({ 'src/a.ts': 'a', 'docs/a.md': 'a', ...files });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root });
    git('init', '-q');
    git('add', '.');
    const identity = ['user.name=Ada', 'user.email=a@example.com', 'commit.gpgsign=false'];
    git(...identity.flatMap((setting) => ['-c', setting]), 'commit', '-qm', 'Begin');
    return root;
  }

  it('ends in -dirty only if an input differs from the commit', async () => {
    const root = createClone();
    const commit = readRelease(root, {});
    writeFileSync(join(root, 'docs/a.md'), 'b');
    writeFileSync(join(root, 'src/new.ts'), 'b');
    expect(await nameRelease(root, ['src', 'package.json'], [], {})).toBe(commit);
    writeFileSync(join(root, 'src/a.ts'), 'b');
    expect(await nameRelease(root, ['src', 'package.json'], [], {})).toBe(`${commit}-dirty`);
    expect(await nameRelease(root, ['src'], [], { RELEASE: 'v1' })).toBe('v1');
  });

  it('ends in -dirty if a linked package differs, not if it lacks files, as in an image', async () => {
    const root = createClone({ 'packages/ui/card.ts': 'a', 'packages/ui/card.test.ts': 'a' });
    const [app, ui] = [join(root, 'src'), join(root, 'packages/ui')];
    const commit = readRelease(app, {});
    rmSync(join(ui, 'card.test.ts'));
    expect(await nameRelease(app, ['.'], [ui], {})).toBe(commit);
    writeFileSync(join(ui, 'card.ts'), 'b');
    expect(await nameRelease(app, ['.'], [], {})).toBe(commit);
    expect(await nameRelease(app, ['.'], [ui], {})).toBe(`${commit}-dirty`);
    // A linked package of another repository has another commit.
    expect(await nameRelease(app, ['.'], [tmpdir()], {})).toBe(commit);
    writeFileSync(join(root, 'src/a.ts'), 'b');
    expect(await nameRelease(app, ['.'], [tmpdir()], {})).toBe(`${commit}-dirty`);
  });
});
