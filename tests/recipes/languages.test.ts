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
  expect(await (await get('/about?sort=name&at=1')).text()).toContain(
    'href="/language?to=de&amp;page=%2Fabout%3Fsort%3Dname%26at%3D1"',
  );
  const chosen = await get('/language?to=de&page=%2Fabout%3Fsort%3Dname');
  expect(chosen.headers.get('location')).toBe('/de/about?sort=name');
  const [cookie] = String(chosen.headers.get('set-cookie')).split(';');
  expect((await get('/', cookie)).headers.get('location')).toBe('/de/about');
  expect((await get('/')).status).toBe(200);
});

it.each([
  ['en', '/de/about?a=1', '/about?a=1'],
  ['de', '/de/about', '/de/about'],
  ['de', '/', '/de'],
  ['en', '/de', '/'],
  ['de', '/design', '/de/design'],
  ['en', '//evil.example/a', '/a'],
  ['en', 'https://evil.example//evil.example', '/evil.example'],
  ['en', '/de//evil.example', '/evil.example'],
  ['en', '/\\evil.example', '/'],
  ['en', 'https://%', '/'],
])('switches to %s from %s, within this site', async (to, page, expected) => {
  const { url } = await app.start();
  const { headers } = await fetch(`${url}/language?${new URLSearchParams({ to, page })}`, { redirect: 'manual' });
  expect(headers.get('location')).toBe(expected);
});
