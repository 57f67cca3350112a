import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readProjectFile } from '../support/owned-app.ts';
import { createRecipe } from './recipe.ts';

it('tests of components pass without a warning', async () => {
  const app = createRecipe('testing-library', { withPackages: true });
  onTestFinished(app.remove);
  const shell = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const env = { ...Object.fromEntries(shell), NODE_ENV: 'production' }; // as in `.ci/run`
  const vitest = join(app.folder, 'node_modules/vitest/vitest.mjs');
  const [, words = ''] = /posttest="vitest (.+)"/.exec(readProjectFile('docs/recipes/testing-library.md')) ?? [];
  const args = [vitest, ...words.split(' '), '--no-color'];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: app.folder, env }, (_, out, err) => resolve({ stdout: out, stderr: err }));
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Tests {2}1 passed \(1\)/);
});
