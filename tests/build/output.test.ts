import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { beginBuild, finishBuild } from '../../build/output.mjs';
import { createFolder } from '../support/folder.ts';

const MAIN = { path: 'server/main.js', contents: '// a line\n'.repeat(500_000) };

it('never shortens or removes files while a server of another build can read them, and then deletes old ones', async () => {
  const dist = createFolder(onTestFinished);
  await beginBuild(dist, [MAIN, { path: 'server/old.js', contents: '' }]);
  await finishBuild(dist, [], 'stamp');
  let isBuilding = true;
  const building = beginBuild(dist, [MAIN]).then(() => {
    isBuilding = false;
  });
  while (isBuilding) {
    expect(readFileSync(join(dist, MAIN.path)).length).toBe(MAIN.contents.length);
    await nextIteration();
  }
  await building;
  expect(readdirSync(join(dist, 'server'))).toEqual(['main.js']);
  expect(readdirSync(dist).sort()).toEqual(['.unfinished', 'server']);
});
