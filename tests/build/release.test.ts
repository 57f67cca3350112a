import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRelease } from '../../build/release.mjs';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'release-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
}

it.each<[string, Record<string, string>]>([
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
])('uses the commit that is checked out, on %s', (_name, files) => {
  write(files);
  expect(readRelease(root, {})).toBe('0123456789ab');
  expect(readRelease(root, { RELEASE: ' v1.4.0 ' })).toBe('v1.4.0');
});

it.each<[string, Record<string, string>]>([
  ['no repository', {}],
  ['no commit', { '.git/HEAD': 'ref: refs/heads/main' }],
  ['something else', { '.git/HEAD': 'canary' }],
])('has no name with %s', (_name, files) => {
  write(files);
  expect(readRelease(root, {})).toBeUndefined();
});
