import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { layOutImage, placePackages } from '../../bin/image.mjs';
import { createNew } from '../../bin/new/new.mjs';
import { writeFiles } from '../build/write-files.ts';
import { createFolder } from '../support/folder.ts';
import { createInWorkspace } from '../support/owned-app.ts';

/** A temporary folder, with the path that programs see. */
const createRoot = () => realpathSync(createFolder(onTestFinished));

it('a new page is formatted in apps/web of a workspace, whose packages are above it', () => {
  const told: string[] = [];
  createNew(['page', '/orders'], { root: createInWorkspace(createRoot()), log: (line: string) => told.push(line) });
  expect(told.join('\n')).toContain('orders.ts');
  expect(told.join('\n')).not.toContain('could not be formatted');
});

it('the packages of an image are found where pnpm links them, and a second version stays with its package', () => {
  const root = createRoot();
  const store = 'node_modules/.pnpm';
  const of: Record<string, Record<string, string>> = {
    'log@1': { pump: '2', '@scope/clock': '1' },
    'pump@2': { '@scope/clock': '2', log: '1', missing: '1' },
    'pump@3': {},
    '@scope/clock@1': {},
    '@scope/clock@2': {},
  };
  const toFolder = (id: string): string => join(root, store, id, 'node_modules', id.slice(0, id.lastIndexOf('@')));
  const link = (from: string, id: string): void => {
    const path = join(from, id.slice(0, id.lastIndexOf('@')));
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(relative(dirname(path), toFolder(id)), path);
  };
  for (const [id, dependencies] of Object.entries(of)) {
    writeFiles(toFolder(id), { 'package.json': JSON.stringify({ dependencies }) });
    for (const [name, version] of Object.entries(dependencies))
      if (name !== 'missing') link(join(root, store, id, 'node_modules'), `${name}@${version}`);
  }
  link(join(root, 'node_modules'), 'log@1');
  expect(Object.fromEntries(placePackages(root, ['log', 'native']))).toEqual({
    'node_modules/log': toFolder('log@1'),
    'node_modules/pump': toFolder('pump@2'),
    'node_modules/@scope/clock': toFolder('@scope/clock@1'),
    'node_modules/pump/node_modules/@scope/clock': toFolder('@scope/clock@2'),
  });
  link(join(root, 'node_modules'), 'pump@3');
  expect(Object.fromEntries(placePackages(root, ['log', 'pump']))).toMatchObject({
    'node_modules/pump': toFolder('pump@3'),
    'node_modules/log/node_modules/pump': toFolder('pump@2'),
  });
});

it('an image has the files that packages read beside their code, and native code for other systems', () => {
  const root = createRoot();
  writeFiles(root, {
    'dist/packages.json': '{ "loaded": ["native"] }',
    'node_modules/native/package.json': '{}',
    'node_modules/native/prebuilds/darwin-arm64/native.node': 'not of Linux',
    'node_modules/native/libother.so.8.1': '',
    'node_modules/native/table.sql': '',
    'node_modules/native/views/docs/page.html': '',
    'node_modules/native/.env': 'of a package in a workspace',
  });
  layOutImage(root, join(root, 'image'));
  const image = join(root, 'image/app/node_modules/native');
  expect(readdirSync(image).sort()).toEqual(['libother.so.8.1', 'package.json', 'prebuilds', 'table.sql', 'views']);
  expect(readdirSync(join(image, 'views/docs'))).toEqual(['page.html']);
});
