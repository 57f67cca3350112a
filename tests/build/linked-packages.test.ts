import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listLinkedFiles } from '../../build/linked-packages.mjs';
import { createFolder } from '../support/folder.ts';

it('lists the files of linked packages, also below a hidden folder', () => {
  const workspace = join(createFolder(onTestFinished), '.worktrees/shop');
  const [web, lib] = ['apps/web', 'packages/lib'].map((path) => join(workspace, path)) as [string, string];
  for (const folder of [join(web, 'node_modules'), join(lib, '.git')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(web, 'package.json'), JSON.stringify({ dependencies: { lib: '*' } }));
  for (const file of ['package.json', 'index.js', '.git/HEAD']) writeFileSync(join(lib, file), '{}');
  symlinkSync(lib, join(web, 'node_modules/lib'), 'junction');
  expect(listLinkedFiles(web)).toEqual(['../../packages/lib/index.js', '../../packages/lib/package.json']);
});
