import { expect, it } from 'vitest';
import { useRecipe } from './recipe.ts';

const app = useRecipe('languages');

it('shows a page in the language of its path, links the other one, and remembers a choice', async () => {
  const { url } = await app.start();
  const get = (path: string, cookie = '') => fetch(url + path, { redirect: 'manual', headers: { Cookie: cookie } });
  const german = await (await get('/de/about')).text();
  expect(german).toContain('<html lang="de">');
  expect(german).toContain('<h1>Über uns</h1>');
  expect(german).toContain('1. Juli 2026');
  expect(german).not.toContain('About us');
  const english = await (await get('/about')).text();
  expect(english).toContain('<html lang="en">');
  expect(english).toMatch(/<link rel="alternate" hrefLang="de" href="https:\/\/[^"]+\/de\/about"/);
  expect((await get('/fr/about')).status).toBe(404);
  const chosen = await get('/language?to=de');
  expect(chosen.headers.get('location')).toBe('/de/about');
  const [cookie] = String(chosen.headers.get('set-cookie')).split(';');
  expect((await get('/', cookie)).headers.get('location')).toBe('/de/about');
  expect((await get('/')).status).toBe(200);
});
