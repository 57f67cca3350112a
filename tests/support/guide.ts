import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNew } from '../../bin/new/new.mjs';
import { withoutSettings } from '../../bin/own/tour.mjs';
import { settings } from '../../src/server/product/settings.ts';
import { createOwnedApp, type OwnedApp, type OwnedAppOptions } from './owned-app.ts';
import { applyBlocks, listBlocks } from './recipe-blocks.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** What `npm run own` keeps of the product beside the files that the engine asks the owner for, and what its tests need. */
const KEPT = [
  'src/server/product/api/send-invalid.ts',
  'src/server/product/field-errors.ts',
  'src/shared/product/error-pages.tsx',
  'src/shared/product/href.ts',
  'tests/shared/product/error-pages.test.tsx',
  'vitest.config.ts',
  'tsconfig.json',
  'biome.json',
  '.gitignore',
  '.env.example',
];

/** The settings of the product that is replaced. */
const PRODUCT_NAMES = Object.keys(settings.table);

const SHELL = /^```sh\n(.*?)^```$/gms;
const NEW = /^npm run new -- (.+)$/gm;

/** The app that `npm run own` leaves, in a folder of its own. Use when pages of the docs build on each other. */
export function createEmptyApp(options?: OwnedAppOptions): OwnedApp {
  const app = createOwnedApp([], options);
  const ofTests = options?.partial ? ['tests/support/product'] : ['tests/support', 'tests/e2e/site.ts'];
  for (const path of [...KEPT, ...ofTests]) cpSync(join(project, path), join(app.folder, path), { recursive: true });
  cpSync(join(project, 'bin/own/empty'), app.folder, { recursive: true });
  app.write({ '.env.example': withoutSettings(readFileSync(join(project, '.env.example'), 'utf8'), PRODUCT_NAMES) });
  return app;
}

/** The app that the guide leads to. */
export function createGuideApp(options?: OwnedAppOptions): OwnedApp {
  const app = createEmptyApp(options);
  const pages = readdirSync(join(project, 'docs/guide')).filter((name) => /^\d\d-.*\.md$/.test(name));
  for (const name of pages.sort()) followPage(app, readFileSync(join(project, 'docs/guide', name), 'utf8'));
  return app;
}

/** Does what a page of the guide says: writes its code blocks and runs its `npm run new`, from top to bottom. */
function followPage(app: OwnedApp, text: string): void {
  const page = text.replaceAll('```svg\n', '```css\n'); // a whole file too
  let done = 0;
  for (const { index, 0: block, 1: commands = '' } of page.matchAll(SHELL)) {
    applyBlocks(app.folder, listBlocks(page.slice(done, index)));
    done = index + block.length;
    for (const [, words = ''] of commands.matchAll(NEW)) {
      createNew(words.split(' '), { root: app.folder, log: () => undefined });
    }
  }
  applyBlocks(app.folder, listBlocks(page.slice(done)));
}
