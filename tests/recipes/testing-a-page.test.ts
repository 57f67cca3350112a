import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createOwnedApp, project, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

it('has tests that pass in a clone', async () => {
  const app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/testing-a-page.md')));
  cpSync(join(project, 'tests/support'), join(app.folder, 'tests/support'), { recursive: true });
  cpSync(join(project, 'vitest.config.ts'), join(app.folder, 'vitest.config.ts'));
  const vitest = join(project, 'node_modules/vitest/vitest.mjs');
  const paths = ['tests/shared/product', 'tests/server/product'];
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'run', '--project', 'unit', ...paths], {
    cwd: app.folder,
    env: { ...process.env, NODE_ENV: 'test', VITEST: undefined },
  });
  app.remove();
  expect(stdout).toMatch(/\n6 passed, 0 failed\s*$/);
}, 120_000);
