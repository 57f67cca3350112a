import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listLinkedFiles, listPackageFolders } from '../../build/linked-packages.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

it('lists the files of linked packages, also below a hidden folder', () => {
  const workspace = join(createFolder(onTestFinished), '.worktrees/shop');
  const web = join(workspace, 'apps/web');
  writeFiles(workspace, {
    'apps/web/package.json': '{ "dependencies": { "lib": "*" } }',
    ...{ 'packages/lib/package.json': '{}', 'packages/lib/index.js': '', 'packages/lib/.git/HEAD': '' },
    'package-lock.json': '{}',
  });
  mkdirSync(join(web, 'node_modules'));
  symlinkSync(join(workspace, 'packages/lib'), join(web, 'node_modules/lib'), 'junction');
  expect(listLinkedFiles(web)).toEqual(['../../packages/lib/index.js', '../../packages/lib/package.json']);
  expect(listPackageFolders(web)).toEqual(['packages/lib/']);
});
