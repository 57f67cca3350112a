import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, Server } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { implement } from '../../../src/server/api/implement.ts';
import { describeNodeFloor } from '../../../src/server/connection/node-floor.ts';
import { loadExistingApp } from '../../../src/server/front/existing-app.ts';
import { isBelow } from '../../../src/server/index.ts';
import { type RequestInfo, requestInfo } from '../../../src/server/request/request-info.ts';
import { operation } from '../../../src/shared/api/operation.ts';
import apps from '../../fixtures/existing/apps.cjs';
import {
  createTestApp,
  serve,
  spyOnLog,
  startTestServer,
  type TestAppOptions,
  type TestServer,
} from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';
import { listen, listenInTest } from '../../support/listen.ts';
import { askRaw, sendRaw } from '../../support/raw-http.ts';
import { EXISTING_APPS } from '../existing-apps.ts';

/** Headers that depend on the connection or the time, and one that Spillway adds by contract. */
const OTHERS = /^(?:date|keep-alive|connection|x-request-id):/i;

/** Starts the app without Spillway. @returns its port */
const startAlone = (app: RequestListener) => listenInTest(createServer(app));

async function mount(app: RequestHandler, { rawPaths, ...options }: MountOptions = {}) {
  const { port } = await startTestServer({ existingApp: { app, rawPaths }, ...options });
  return port;
}

type MountOptions = TestAppOptions & { readonly rawPaths?: boolean };

async function ask(port: number, { line, headers = [], body = '' }: (typeof EXISTING_APPS)[string]['asks'][number]) {
  const head = [line, 'Host: localhost', ...headers, 'Connection: close'].join('\r\n');
  const text = await sendRaw(port, `${head}\r\n\r\n${body}`, { patience: 10_000 });
  const end = text.indexOf('\r\n\r\n');
  const [status, ...fields] = text.slice(0, end).split('\r\n');
  return { status, headers: fields.filter((field) => !OTHERS.test(field)).sort(), body: text.slice(end + 4) };
}

describe.each(Object.entries(EXISTING_APPS))('%s', (name, { create, asks }) => {
  let mounted: TestServer;
  let alone: TestServer;
  beforeAll(async () => {
    const parts = { existingApp: { app: create() }, routes: express.Router(), compression: true };
    mounted = await serve(createTestApp(parts));
    const server = createServer(create());
    alone = { port: await listen(server), close: () => server.close().closeAllConnections() };
  });
  afterAll(() => {
    mounted.close();
    alone.close();
  });

  it.each(asks.map((one) => [one.line.slice(0, 60), one] as const))('%s', async (_line, one) => {
    const expected = await ask(alone.port, one);
    expect(expected.status).toMatch(/^HTTP\/1\.1 [1-5]\d\d /);
    const reply = await ask(mounted.port, one);
    // Spillway answers what the app does not, with the same status.
    if (name.startsWith('unanswered')) expect(reply.status).toBe(expected.status);
    else expect(reply).toEqual(expected);
  });
});

it('a proxy forwards a remote response unchanged, chunk by chunk', async () => {
  const target = `http://127.0.0.1:${await startAlone(apps.createStreams())}`;
  const alone = await startAlone(apps.createProxy(target));
  const port = await mount(apps.createProxy(target), { compression: true });
  for (const path of ['/far/events', '/far/long', '/far/nowhere']) {
    const one = { line: `GET ${path} HTTP/1.1`, headers: ['Accept-Encoding: gzip'] };
    expect(await ask(port, one)).toEqual(await ask(alone, one));
  }
});

/** Responds with the method and URL of the request. */
const sayUrl: RequestHandler = express().use((req, res) => void res.send(`${req.method} ${req.url}`));

const replies = { 200: { about: 'It.', body: z.object({}) } };
const ours = implement(
  { pay: operation({ method: 'GET', path: '/orders/:id', summary: 'An order', replies }) },
  { pay: () => ({ status: 200, body: {} }) },
);
const own: RequestHandler = (_req, res) => void res.send('own');
const routes = express.Router().post(['/close', '/api/close'], own);
const FOREIGN = ['Sec-Fetch-Site: cross-site', 'Cookie: session=1'];

it.each<[string, path: string, api: TestAppOptions['api'], sent: string[], status: number, body?: string]>([
  ['is left to the app', '/api/mobile/scans', [ours], FOREIGN, 200, 'POST /api/mobile/scans'],
  ['is left to the app', '/API/mobile/scans', [], FOREIGN, 200, 'POST /API/mobile/scans'],
  ['is left to the app', '/old', [], FOREIGN, 200, 'POST /old'],
  ['is of an operation', '/api/orders/7', [ours], FOREIGN, 403],
  ['is of an operation, with a slash', '/api/orders/7/', [ours], FOREIGN, 403],
  ['could be answered by a handler', '/api/mobile/scans', [ours, express.Router()], FOREIGN, 403],
  ['is of the desk', '/api/desk/incidents', [ours], FOREIGN, 403],
  ['is of a route', '/close', [], FOREIGN, 403],
  ['is of a route below /api', '/api/close', [], FOREIGN, 403],
  ['is of a route below /api, without cookies', '/api/close', [], FOREIGN.slice(0, 1), 200, 'own'],
  ['is not from another site', '/close', [], ['Sec-Fetch-Site: same-origin'], 200, 'own'],
  ['is of nothing', '/nowhere', [], FOREIGN, 403],
])(
  'a post from another site follows its rules after the steps, if it %s: %s',
  async (_what, path, api, sent, status, body) => {
    const seen: string[] = [];
    const step: RequestHandler = (req, _res, next) => next(void seen.push(req.path));
    const app = express().post(['/old', /mobile/], sayUrl);
    const port = await mount(app, { routes, steps: [step], api });
    const reply = await askRaw(port, `POST ${path} HTTP/1.1`, ['Host: localhost', 'Content-Length: 0', ...sent]);
    // The check of the API is in front of the steps.
    expect([reply.status, seen]).toEqual([status, status === 403 && api?.length ? [] : [path]]);
    if (body === undefined) expect(reply.headers['x-content-type-options']).toBe('nosniff');
    else expect(reply.body).toBe(body);
  },
);

it('gets the URL that a step has rewritten', async () => {
  const rewrite: RequestHandler = (req, _res, next) => {
    if (req.url.startsWith('/old')) req.url = req.url.replace('/old', '/new');
    next();
  };
  const app = express().use((req, res) => void res.json([req.url, req.originalUrl]));
  const port = await mount(app, { steps: [rewrite] });
  expect((await askRaw(port, 'GET /old?a=1 HTTP/1.1')).body).toBe('["/new?a=1","/old?a=1"]');
  expect((await askRaw(port, 'GET /other HTTP/1.1')).body).toBe('["/other","/other"]');
});

const app = express().disable('x-powered-by');
app.get('/late', (_req, res) => void res.set('Set-Cookie', 'a=1').status(200));
app.get('/conflict', () => {
  throw Object.assign(new Error('canary'), { status: 409, headers: { 'Retry-After': '5' } });
});
app.get('/broken', () => {
  throw new Error('canary');
});

it.each([
  ['/nowhere', 404],
  ['/conflict', 409],
  ['/broken', 500],
])('a request that the app passes to next() is answered by Spillway at %s, with its headers', async (path, status) => {
  const reply = await askRaw(await mount(app), `GET ${path} HTTP/1.1`);
  expect(reply.status).toBe(status);
  expect(reply.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.any(String),
    'cache-control': 'no-store',
  });
  expect(reply.headers['retry-after']).toBe(status === 409 ? '5' : undefined);
  expect(reply.headers['x-error-digest'] !== undefined).toBe(status === 500);
  expect(reply.body).not.toContain('canary');
});

it('keeps headers that a step has set', async () => {
  const step: RequestHandler = (_req, res, next) => {
    res.set({ 'X-Frame-Options': 'SAMEORIGIN', 'X-Content-Type-Options': 'nosniff' });
    next();
  };
  const port = await mount(sayUrl, { steps: [step], routes: express.Router() });
  const { headers } = await askRaw(port, 'GET /x HTTP/1.1');
  expect(headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN', 'x-content-type-options': 'nosniff' });
  expect(headers['permissions-policy']).toBeUndefined();
});

it.skipIf(describeNodeFloor(process.versions.node) === undefined)(
  'gets no Brotli body that it would decode (skipped if Node is fixed)',
  async () => {
    const port = await mount(express().use(express.json(), (req, res) => void res.json(req.body)));
    const body = brotliCompressSync('{"a":1}').toString('latin1');
    const headers = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const reply = await askRaw(port, 'POST /x HTTP/1.1', [...headers, 'Content-Encoding: BR'], body);
    expect(reply.status).toBe(415);
  },
);

describe('raw paths', () => {
  const open = () => mount(sayUrl, { rawPaths: true, files: new Map([['/mine.txt', {} as never]]) });

  it.each([
    ...['//x', '/x//y', '/a%2Fb', '/a%2fb/', '/caf%c3%a9', '/%78', '/a%', '/a%zz', '/%E4', '/a\\b', '/a%5cb'],
    ...['/a%252fb'],
  ])('passes %s to the app unchanged', async (path) => {
    const port = await open();
    expect(await askRaw(port, `GET ${path}?q=%E4 HTTP/1.1`)).toMatchObject({
      status: 200,
      body: `GET ${path}?q=%E4`,
    });
    expect((await askRaw(port, `POST ${path} HTTP/1.1`)).body).toBe(`POST ${path}`);
  });

  it.each([
    '//admin',
    '/%61dmin',
    '/%2561dmin',
    '/%41PI/x',
    '/\\admin',
    '/%5cadmin',
    '/%2fadmin',
    '//api/x',
    '/%2561pi',
    '/desk%2f',
    '//_data/x',
    '//livez',
    '//mine.txt',
    '/%2f%2fmetrics',
    '/x/../admin',
    '/x/..%2fadmin',
    '/x/%252e%252e/y',
    '/..',
    '/%00',
    '/%2500',
    '/%0a',
    '/%25252561dmin',
  ])('keeps %s from the app', async (path) => {
    const { status, body } = await askRaw(await open(), `GET ${path} HTTP/1.1`);
    expect(body).not.toContain(`GET ${path}`);
    expect([200, 308, 400, 404]).toContain(status);
  });

  it.each([
    ...['/secret#', '/secret#a', '/secret?#', '/secret\xa0', '/secret\xa0?a', '/secret\t', '/x\x01'],
    ...['/x?\xe9', '//x#?a'],
  ])('refuses %j, which parsers read differently', async (path) => {
    for (const port of [await open(), await mount(sayUrl)]) {
      expect((await askRaw(port, `GET ${path} HTTP/1.1`)).status).toBe(400);
    }
  });

  it.each([
    ...['/%73ecret/a', '//secret/a', '/secret%2fa', '/secret%5ca', '/%2573ecret/a', '//secret', '/Secret//a'],
    ...['/x/../secret'],
  ])('shows a step the normalized path: %s', async (path) => {
    const gate = express.Router().use('/secret', (_req, res) => void res.status(401).send('locked'));
    const port = await mount(sayUrl, { rawPaths: true, steps: [gate] });
    expect([401, 400]).toContain((await askRaw(port, `GET ${path} HTTP/1.1`)).status);
  });
});

it('an error that a package makes while it reads the body is not blamed on a line of Spillway', async () => {
  const { log, lines } = spyOnLog();
  const body = new FormData();
  body.set('other', new File(['a'], 'a.txt'));
  const port = await mount(apps.createUploads(), { log });
  expect((await fetch(`http://127.0.0.1:${port}/upload`, { method: 'POST', body })).status).toBe(500);
  const failures = lines.filter(({ title }) => title !== undefined);
  expect(failures).toMatchObject([{ title: 'MulterError: Unexpected file field', route: '/upload' }]);
  expect(failures[0]?.location).toBeUndefined();
});

const guard: RequestHandler = (req, res, next) =>
  isBelow(req, '/vault') || isBelow(req, '/größe/') ? void res.status(401).end() : next();

it.each([
  ['/vault', 401],
  ['/vault/', 401],
  ['/Vault/users', 401],
  ['/VAULT?a', 401],
  ['/%76ault', 401],
  ['/%56ault/x', 401],
  ['//vault', 401],
  ['/vault%2fx', 401],
  ['/gr%c3%b6%C3%9Fe/1', 401],
  ['/_data/vault', 401],
  ['/vaults', 200],
  ['/Vaults/x', 200],
  ['/x/vault', 200],
  ['/gr', 200],
])('a step with isBelow() answers %s with %i', async (path, status) => {
  const port = await mount(sayUrl, { rawPaths: true, steps: [guard] });
  expect((await askRaw(port, `GET ${path} HTTP/1.1`)).status).toBe(status);
  const strict = await askRaw(await mount(sayUrl, { steps: [guard] }), `GET ${path} HTTP/1.1`);
  expect([status, 308, 400]).toContain(strict.status);
});

function writeApp(text: string) {
  const root = createFolder(onTestFinished);
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'app.cjs'), text);
  return root;
}

it('an app that is named by its file is loaded with its server', async () => {
  const root = writeApp(`const app = require('express4')();
      app.server = require('node:http').createServer(app);
      module.exports = app;`);
  const { log, lines } = spyOnLog();
  const loaded = await loadExistingApp({ app: './app.cjs', rawPaths: true }, root, log);
  expect(loaded).toMatchObject({ app: expect.any(Function), server: expect.any(Server), rawPaths: true });
  expect(await loadExistingApp('./app.cjs', root, log)).not.toHaveProperty('rawPaths');
  expect(lines).toEqual([]);
});

it.each(['express', 'express4'])(
  'errors without a stack get the line of their route in an app with its own %s',
  async (name) => {
    const root = writeApp('');
    mkdirSync(join(root, 'legacy/node_modules'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(root, 'legacy/node_modules/express'));
    writeFileSync(
      join(root, 'legacy/app.cjs'),
      `const app = require('express')();
const read = (_req, _res, next) => require('node:fs').readFile('none', next);
app.get('/exports', read);
module.exports = app;`,
    );
    const infos: RequestInfo[] = [];
    const steps: RequestHandler[] = [(req, _res, next) => next(void infos.push(requestInfo(req)))];
    const { port } = await startTestServer({
      existingApp: await loadExistingApp('./legacy/app.cjs', root, spyOnLog().log),
      steps,
    });
    expect((await askRaw(port, 'GET /exports HTTP/1.1')).status).toBe(500);
    expect(infos[0]?.definition?.call.stack).toContain('legacy/app.cjs:3:5');
  },
);

it.each([
  ['./missing.js', 'names ./missing.js, which does not exist.'],
  ['./../legacy/app.js', 'names ./../legacy/app.js, which is outside of the project. Move the app into its folder'],
  ['./none.mjs', './none.mjs exports no Express app. End it with'],
] as const)('an app that is named by its file does not start if it cannot be loaded: %s', async (file, message) => {
  const root = writeApp('');
  writeFileSync(join(root, 'none.mjs'), 'export default {};');
  await expect(loadExistingApp(file, root, spyOnLog().log)).rejects.toThrow(message);
});
