import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript, VITEST } from '../recipes/recipe.ts';
import { createGuideApp } from '../support/guide.ts';
import { listen } from '../support/listen.ts';
import { createVisitor, type OwnedApp, type Visitor } from '../support/owned-app.ts';

const GRACE = { _action: 'people.add', name: 'Grace Hopper', email: 'grace@example.org', city: 'New York' };
/** Other user agents are treated as crawlers, which get the complete page. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';
/** The comments that React writes between text nodes. */
const BETWEEN = /<!-- -->/g;

let app: OwnedApp;
let weather: Awaited<ReturnType<typeof startWeather>>;

beforeAll(async () => {
  app = createGuideApp();
  await app.build();
  weather = await startWeather();
});
afterAll(() => {
  weather?.close();
  app?.remove();
});

/** Responds slowly for London, with 404 for Erlangen and with 500 for New York. */
async function startWeather() {
  const server = createServer(async ({ url }, res) => {
    if (url === '/London') await setTimeout(1000);
    const status = url === '/London' ? 200 : url === '/Erlangen' ? 404 : 500;
    res.writeHead(status, { 'content-type': 'application/json' }).end('{"degrees":14}');
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() };
}

async function start(env: Record<string, string> = {}) {
  const running = await app.start({ WEATHER_SERVICE: weather.url, DATA_DIR: app.folder, ...env });
  return { ...running, visitor: createVisitor(running.url) };
}

async function read(visitor: Visitor, path: string) {
  const reply = await visitor.get(path, { 'user-agent': BROWSER });
  return { status: reply.status, html: (await reply.text()).replace(BETWEEN, ''), headers: reply.headers };
}

describe('the app of the guide', () => {
  it('passes its own tests', async () => {
    const args = ['run', 'tests/server/product', 'tests/e2e/product/people.test.ts'];
    const { stdout } = await runScript(app.folder, VITEST, args);
    expect(stdout).toMatch(/^[1-9]\d* passed, 0 failed$/m);
    expect(stdout).toContain('tests/e2e/product/people.test.ts');
  }, 120_000);
});

describe('its pages', () => {
  it('have a layout, a document and titles, and one is static', async () => {
    const { visitor } = await start();
    const about = await read(visitor, '/about');
    expect(about.html).toContain('<title>About · Address book</title>');
    expect(about.html).toMatch(/<a (?=[^>]*aria-current="page")(?=[^>]*href="\/about")/);
    const etag = about.headers.get('etag') ?? '';
    expect((await visitor.get('/about', { 'if-none-match': etag })).status).toBe(304);
    const nowhere = await read(visitor, '/nowhere');
    expect([nowhere.status, nowhere.html]).toEqual([404, expect.stringContaining('Looking for a person?')]);
  });

  it('show data, and send 304 while its version is the same', async () => {
    const { visitor } = await start();
    const all = await read(visitor, '/people');
    expect(all.html).toMatch(/href="\/people\/1"[^>]*>Ada Lovelace<\/a>, since \d{4}-\d\d-\d\d/);
    const etag = (await visitor.get('/_data/people')).headers.get('etag') ?? '';
    expect((await visitor.get('/_data/people', { 'if-none-match': etag })).status).toBe(304);
    await visitor.post('/people', GRACE);
    expect((await visitor.get('/_data/people', { 'if-none-match': etag })).status).toBe(200);
  });

  it('can have a shell with a personal part, which is rendered again when it has changed', async () => {
    const { visitor } = await start();
    for (const [language = '', greeting] of [
      ['de-CH', 'Guten Tag!'],
      ['en', 'Good day!'],
    ]) {
      const reply = await visitor.get('/newest', { 'user-agent': BROWSER, 'accept-language': language });
      const html = await reply.text();
      expect(html).toContain('<li>Ada Lovelace</li>');
      expect(html.indexOf(`<p>${greeting}</p>`)).toBeGreaterThan(html.indexOf('Hello!'));
    }
    await visitor.post('/people', GRACE);
    expect((await read(visitor, '/newest')).html).toContain('<li>Grace Hopper</li>');
  });

  it('stream deferred data', async () => {
    const { visitor } = await start();
    const ada = await read(visitor, '/people/1');
    expect(ada.html).toMatch(/Loading the weather.*14 degrees/s);
    expect((await read(visitor, '/people/2?_whole=1')).html).toContain('There is no weather station in Erlangen.');
  });

  it('handle forms without JavaScript', async () => {
    const { visitor } = await start();
    const wrong = await visitor.post('/people', { ...GRACE, email: 'nowhere' });
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('value="Grace Hopper"')]);
    expect((await visitor.post('/people/1', { _action: 'person.star' })).status).toBe(303);
    expect((await read(visitor, '/people/1')).html).toContain('Stars: 1');

    const upload = new FormData();
    upload.append('_action', 'people.import');
    upload.append('file', new File(['Alan,alan@example.org,Wilmslow\nnobody'], 'people.csv'));
    const imported = await visitor.post('/people', upload);
    expect([imported.status, await imported.text()]).toEqual([200, expect.stringContaining('Imported: 1')]);
  });

  it('show a message for an expected error, and a digest for a failure', async () => {
    const { visitor } = await start();
    app.write({ 'data/backup.json': '{"takenAt":"2026-01-02T03:04:05Z","people":[1,2]}' });
    expect((await read(visitor, '/backup')).html).toContain('2 people, on 2026-01-02');
    app.write({ 'data/backup.json': '{"takenAt' });
    const broken = await read(visitor, '/backup');
    expect(broken.status).toBe(500);
    expect(broken.html).toContain(`<code>${broken.headers.get('x-error-digest')}</code>`);
    expect(broken.html).not.toMatch(/JSON at|SyntaxError/);
    app.write({ 'data/backup.json': undefined });
    const none = await read(visitor, '/backup');
    expect([none.status, none.html]).toEqual([503, expect.stringContaining('There is no backup yet.')]);
  });
});

it('has a schema that reads the fields of forms and of programs', async () => {
  const { OrderFields } = await import(join(app.folder, 'src/shared/product/order-fields.ts'));
  const ofForm = { pieces: '12', discount: '', day: '', isGift: 'on' };
  expect(OrderFields.parse(ofForm)).toEqual({ pieces: 12, isGift: true });
  expect(OrderFields.parse({ pieces: 12, discount: 0.5 })).toEqual({ pieces: 12, discount: 0.5, isGift: false });
});

it('has an API that describes itself and the fields that it refuses', async () => {
  const { url } = await start();
  const read = async (path: string) => (await fetch(url + path)).json();
  const post = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const { _action, ...grace } = GRACE;
  const created = await post('/api/people', grace);
  expect([created.status, created.headers.get('location')]).toEqual([201, '/api/people/3']);
  expect(await read('/api/people/3')).not.toHaveProperty('email');
  expect(await (await post('/api/people', {})).json()).toMatchObject({
    status: 422,
    errors: { name: expect.any(String) },
  });
  expect((await post('/api/groups', { name: 'Friends' })).status).toBe(201);
  expect(await read('/api/people?q=emmy')).toMatchObject([{ name: 'Emmy Noether' }]);
  expect((await read('/api/openapi.json')).paths).toHaveProperty(['/api/people/{id}']);
});

it('reports an invalid setting', async () => {
  await expect(start({ WEATHER_SERVICE: 'weather' })).rejects.toThrow(
    'The setting WEATHER_SERVICE must begin with http:// or https://.',
  );
});
