import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { readCommits } from '../../build/commits.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

let root: string;

beforeEach(() => {
  root = createFolder(onTestFinished);
});

function git(...options: string[]): void {
  const user = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...user, ...options], { cwd: root, stdio: 'pipe' });
}

const write = (file: string, ...lines: string[]) => writeFiles(root, { [file]: `${lines.join('\n')}\n` });

function commit(subject: string): void {
  git('add', '--all');
  git('commit', '-qm', subject);
}

/** @returns the lines of each commit by its subject, newest first */
async function listLines(folder = root): Promise<[string, object][]> {
  return (await readCommits(folder)).map(({ subject, lines }) => [subject, lines]);
}

it('lists the changed lines as they are numbered in the end', async () => {
  git('init', '-q', '-b', 'main');
  write('src/a.ts', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6');
  commit('The first commit, which wrote everything');
  write('src/a.ts', 'a1', 'a2', 'a3', 'A4', 'A5', 'a6');
  commit('Change the lines 4 and 5');
  write('src/a.ts', 'new', 'new', 'a1', 'a3', 'A4', 'A5', 'a6');
  write('-- a/odd.ts', '-- a/src/a.ts');
  commit('Insert two lines above, and remove one');
  write('docs/read.md', 'Not code.');
  commit('Write docs');
  write('src/a.ts', 'new', 'new', 'a1', 'a3', 'A4', 'fixed', 'a6');
  git('mv', 'src/a.ts', 'src/b c.ts');
  write('src/b c.ts', 'new', 'new', 'a1', 'a3', 'A4', 'fixed', 'a6');
  commit('Move the file, and change a line again');
  write('src/b c.ts', 'not committed', 'new', 'new', 'a1', 'a3', 'A4', 'fixed', 'a6');

  expect(await listLines()).toEqual([
    ['Move the file, and change a line again', { 'src/b c.ts': [[7, 7]] }],
    [
      'Insert two lines above, and remove one',
      // The lines around the removed one count too.
      { 'src/b c.ts': [[2, 5]], '-- a/odd.ts': [[1, 1]] },
    ],
    ['Change the lines 4 and 5', { 'src/b c.ts': [[6, 6]] }],
    ['The first commit, which wrote everything', {}],
  ]);
  const [latest] = await readCommits(root);
  expect(latest).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{40}$/), author: 'Ada' });
  expect(Math.abs(Date.now() - (latest?.at ?? 0))).toBeLessThan(60_000);
});

it('lists a merge as one commit, and the project in a folder of the repository', async () => {
  git('init', '-q', '-b', 'main');
  write('app/a.ts', 'a1', 'a2');
  commit('The first commit');
  git('switch', '-qc', 'topic');
  write('app/a.ts', 'a1', 'A2');
  commit('Work on a branch');
  git('switch', '-q', 'main');
  write('app/a.ts', 'above', 'a1', 'a2');
  write('other/b.ts', 'b1');
  commit('Work on main');
  git('merge', '-q', '--no-ff', '-m', 'Merge the branch', 'topic');
  expect(await listLines(join(root, 'app'))).toEqual([
    ['Merge the branch', { 'a.ts': [[3, 3]] }],
    ['Work on main', { 'a.ts': [[1, 1]] }],
    ['The first commit', {}],
  ]);
});

it('lists the commits of the whole workspace, with the files as frames name them', async () => {
  git('init', '-q', '-b', 'main');
  write('package-lock.json', '{}');
  write('packages/ui/card.tsx', 'c1', 'c2');
  commit('The first commit');
  write('packages/ui/card.tsx', 'c1', 'C2');
  commit('Change a package');
  write('apps/web/src/a.ts', 'a1');
  write('apps/api/b.ts', 'b1');
  commit('Write two apps');
  expect(await listLines(join(root, 'apps/web'))).toEqual([
    ['Write two apps', { 'src/a.ts': [[1, 1]], 'apps/api/b.ts': [[1, 1]] }],
    ['Change a package', { 'packages/ui/card.tsx': [[2, 2]] }],
    ['The first commit', {}],
  ]);
});

it('lists nothing outside of a repository', async () => {
  expect(await readCommits(root)).toEqual([]);
});
