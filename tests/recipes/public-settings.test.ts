import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnedApp, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

const SECRET = 'correct horse battery';
const STAGING = { MAP_KEY: 'pk.staging', STAGE: 'staging', MAIL_PASSWORD: SECRET };
const LIVE = { MAP_KEY: 'pk.live', MAIL_PASSWORD: SECRET };
let app: OwnedApp;

beforeAll(async () => {
  app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/public-settings.md')));
  const routes = readFileSync(join(app.folder, 'src/shared/product/routes.tsx'), 'utf8');
  const pages = readFileSync(join(app.folder, 'src/server/product/pages/index.ts'), 'utf8');
  app.write({
    'src/shared/product/routes.tsx': routes.replace(
      "{ id: 'home'",
      "{ id: 'kept', path: '/kept', mode: 'static', page: () => import('./pages/home/home.tsx') }, { id: 'home'",
    ),
    'src/server/product/pages/index.ts': pages.replace('home: null', 'home: null, kept: null'),
  });
  await app.build();
});
afterAll(() => app.remove());

it('runs one build in two environments, with static pages', async () => {
  for (const env of [STAGING, LIVE]) {
    const { url, stop } = await app.start(env);
    for (const path of ['/', '/kept', '/_data/', '/_data/kept']) {
      const text = await (await fetch(url + path)).text();
      expect(text).toContain(env.MAP_KEY);
      expect(text).not.toContain(SECRET);
    }
    const html = await (await fetch(`${url}/kept`)).text();
    expect(html.includes('<p role="status">staging</p>')).toBe(env === STAGING);
    await stop();
  }
});

it('keeps settings out of the build', () => {
  const folder = join(app.folder, 'dist/client/assets');
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(2);
  for (const name of scripts)
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/pk\.(?:staging|live)|MAIL_PASSWORD/);
});

it('does not start without a required setting', async () => {
  await expect(app.start({ MAP_KEY: 'pk.live' })).rejects.toThrow('The setting MAIL_PASSWORD');
});
