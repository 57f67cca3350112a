import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useRecipe } from './recipe.ts';

const SECRET = 'correct horse battery';
const STAGING = { MAP_KEY: 'pk.staging', STAGE: 'staging', MAIL_PASSWORD: SECRET };
const LIVE = { MAP_KEY: 'pk.live', MAIL_PASSWORD: SECRET };

const app = useRecipe('public-settings', (it) => {
  it.write({
    'src/shared/product/pages/home/home.tsx': `
      import { usePublicSettings } from '../../public-settings.ts';
      export default function Home() {
        const { mapKey, stage } = usePublicSettings();
        return <><h1>{mapKey}</h1>{stage !== 'live' && <p role="status">{stage}</p>}</>;
      }`,
  });
  const kept =
    "{ id: 'kept', path: '/kept', mode: 'static', page: () => import('./pages/home/home.tsx') }, { id: 'home'";
  it.replace('src/shared/product/routes.tsx', "{ id: 'home'", kept);
  it.replace('src/server/product/pages/index.ts', 'home: null', 'home: null, kept: null');
});

it('runs one build in two environments, with static pages, and keeps settings out of it', async () => {
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
  const scripts = globSync('dist/client/assets/*.js', { cwd: app.folder });
  expect(scripts.length).toBeGreaterThan(2);
  for (const name of scripts)
    expect(readFileSync(join(app.folder, name), 'utf8')).not.toMatch(/pk\.(?:staging|live)|MAIL_PASSWORD/);
});
