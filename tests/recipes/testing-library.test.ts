import { expect, it, onTestFinished } from 'vitest';
import { readProjectFile } from '../support/owned-app.ts';
import { createRecipe, runScript, VITEST } from './recipe.ts';

it('tests of components pass without a warning', async () => {
  const app = createRecipe('testing-library', { withPackages: true });
  onTestFinished(app.remove);
  const [, words = ''] = /`npx vitest (.+?)`/.exec(readProjectFile('docs/recipes/testing-library.md')) ?? [];
  const env = { NODE_ENV: 'production' }; // as in `.ci/run`
  const { stdout, stderr } = await runScript(app.folder, VITEST, [...words.split(' '), '--no-color'], env);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Tests {2}1 passed \(1\)/);
});
