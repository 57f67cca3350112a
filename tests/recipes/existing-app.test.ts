import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasDesk } from '../support/has-desk.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, readProjectFile, startApp } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';
import { until } from '../support/until.ts';

const blocks = listBlocks(readProjectFile('docs/recipes/existing-app.md'));
let app: OwnedApp;

interface OwnFrame {
  readonly file: string;
  readonly line: number;
  readonly isOwn: boolean;
  readonly source?: { readonly start: number; readonly lines: readonly string[] };
}

/** An app with views, failures, and URLs that it handles itself. */
const legacy = `const path = require('node:path');
const express = require(process.env.EXPRESS);

const app = express();
app.use(express.urlencoded({ extended: true }));
app.get('/stock', (req, res) => res.json({ query: req.query }));
app.post('/orders', (req, res) => res.status(201).json(req.body));
app.set('views', path.join(__dirname, 'views'));
app.engine('txt', require('./template'));
app.get('/about', (req, res) => res.render('about.txt', { host: req.get('host') }));
app.get('/mounted', (req, res) => res.json(req.baseUrl));
app.post('/rows', (req, res) => res.json((require('./db').rows += 1)));
app.get('/handled', () => {
  throw new Error('The old shop is closed.');
});
app.use('/handled', (error, req, res, next) => res.status(500).json({ address: report(error) }));
app.get('/broken', () => {
  throw new Error('The old shop is down.');
});
require('./faults')(app);
module.exports = app;
`;

const template = `const { readFile } = require('node:fs/promises');

module.exports = (file, values, done) => {
  readFile(file, 'utf8').then((text) => done(null, text.replace('{host}', values.host)), done);
};
`;

/** Three failures, two of them in one function. */
const faults = `module.exports = (app) => {
  app.get('/fault/one', function one(req) {
    if (req.query.other) throw new TypeError('The second fault.');
    throw new Error('The first fault.');
  });
  app.get('/stray/:kind', (req, res) => res.json(module.exports.stray(req.params.kind)));
  app.get('/fault/two', (req, res) => res.send(findStock(req.query.id).name));
  app.use((req, res, next) => (req.path === '/fault/three' ? res.send(req.session.name) : next()));
  app.use((req, res, next) => (req.path === '/fault/four' ? res.send(req.visitor.name) : next()));
  app.get(['/fault/five', '/fault/5'], (req, res) => res.send(req.session.name));
  app.route('/fault/six').get((req, res) => res.send(req.session.name));
};

if (process.env.STRAY) {
  for (const event of process.env.STRAY.split(' ')) process.on(event, () => console.log(event + ' heard by the app'));
  let due;
  setInterval(() => {
    const kind = due;
    due = undefined;
    if (kind === 'rejection') Promise.reject(new Error('A stray rejection.'));
    if (kind === 'exception') throw new Error('A stray exception.');
  }, 20);
  module.exports.stray = (kind) => (due = kind);
}

function findStock(id) {
  return { shelf: undefined }.shelf[id];
}
`;

beforeAll(async () => {
  app = createOwnedApp(blocks);
  const index = 'src/server/product/index.ts';
  const guard = "(req, res, next) => (isBelow(req, '/admin') ? res.status(403).end() : next()),";
  const shared =
    "(req, res, next) => (isBelow(req, '/shared') ? res.json(createRequire(process.cwd() + '/')('./legacy/db.js')) : next()),";
  app.replace(index, '  existingApp', `  steps: () => [${guard}${shared}],\n  existingApp`);
  app.replace(
    index,
    'import { defineProduct',
    "import { createRequire } from 'node:module';\nimport { isBelow, defineProduct",
  );
  app.write({
    'legacy/views/about.txt': 'About {host}',
    'legacy/template.js': template,
    'legacy/faults.js': faults,
    'legacy/db.js': 'module.exports = { rows: 0 };',
    'legacy/app.js': legacy,
  });
  await app.build();
});
afterAll(() => app.remove());

describe.each([
  ['Express 4', 'express4'],
  ['Express 5', 'express'],
])('an existing app of %s', (_, name) => {
  let shop: RunningApp;
  beforeAll(async () => {
    shop = await startApp(app.folder, { EXPRESS: name });
  });
  afterAll(() => shop?.stop());

  it.skipIf(!hasDesk)('has a digest for each of its failures, and its source lines on the desk', async () => {
    const { url } = shop;
    const fail = async (path: string) => {
      const reply = await fetch(url + path);
      expect([reply.status, await reply.text()]).toEqual([500, expect.not.stringContaining('The old shop is down')]);
      return reply.headers.get('x-error-digest') ?? '';
    };
    const paths = ['/broken', '/fault/one', '/fault/one?other=1', '/fault/two?id=7'];
    const addresses = await Promise.all(paths.map(fail));
    const anonymous = await Promise.all(['three', 'four', 'five', 'six'].map((number) => fail(`/fault/${number}`)));
    expect(new Set([...addresses, ...anonymous].map((address) => address.slice(0, 8))).size).toBe(paths.length + 4);
    const token = readFileSync(join(app.folder, 'data/desk-token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}` };
    const lines = [
      ['legacy/app.js', "  throw new Error('The old shop is down.');"],
      ['legacy/faults.js', "    throw new Error('The first fault.');"],
      ['legacy/faults.js', "    if (req.query.other) throw new TypeError('The second fault.');"],
      ['legacy/faults.js', '  return { shelf: undefined }.shelf[id];'],
    ];
    for (const [index, address] of addresses.entries()) {
      const ask = () => fetch(`${url}/api/desk/incidents/${address}`, { headers });
      await expect.poll(async () => (await ask()).status).toBe(200);
      const { shown } = (await (await ask()).json()) as { shown: { full: { errors: { frames: OwnFrame[] }[] } } };
      const frame = shown.full.errors[0]?.frames.find(({ isOwn }) => isOwn);
      const source = frame?.source;
      expect([frame?.file, source?.lines[(frame?.line ?? 0) - source.start]]).toEqual(lines[index]);
    }
  });

  it('shares its modules with the product, and its error handler can report', async () => {
    const { url, log } = shop;
    const read = async (path: string, init = {}) => (await fetch(url + path, init)).json();
    const { rows } = (await read('/shared')) as { rows: number };
    expect(await read('/rows', { method: 'POST' })).toBe(rows + 1);
    expect(await read('/shared')).toEqual({ rows: rows + 1 });
    const { address } = (await read('/handled')) as { address: string };
    expect(address).toMatch(/^\w{8}-\w{8}$/);
    const line = () => log().match(new RegExp(`.*"digest":"${address.slice(0, 8)}".*`))?.[0];
    await until(() => line() !== undefined, 'the line of the log');
    expect(line()).toContain('"url":"/handled"');
    expect(line()).toContain('The old shop is closed.');
  });

  it.each([
    ['rejection', 'unhandledRejection'],
    ['rejection', 'uncaughtException'],
    ['exception', 'uncaughtException'],
  ])('keeps running after a stray %s if it handles %s, and the failure has a digest', async (kind, event) => {
    const { url, log } = await app.start({ EXPRESS: name, STRAY: event, DATA_DIR: join(app.folder, kind + event) });
    await fetch(`${url}/stray/${kind}`);
    await until(() => log().includes(`${event} heard by the app`), 'the handler of the app');
    await until(() => new RegExp(`"digest":"\\w{8}".*A stray ${kind}\\.`).test(log()), 'the line of the log');
    expect(log()).not.toContain('Nothing caught an error');
    expect((await fetch(`${url}/stock`)).status).toBe(200);
  });
});

it('reports a file that does not export an app, and what to do', async () => {
  app.write({ 'legacy/app.js': 'module.exports = { listen() {} };' });
  await expect(app.start()).rejects.toThrow('./legacy/app.js exports no Express app. End it with');
  app.write({ 'legacy/package.json': '{ "type": "module" }' });
  await expect(app.start()).rejects.toThrow('The existing app uses CommonJS. Put a package.json with');
});
