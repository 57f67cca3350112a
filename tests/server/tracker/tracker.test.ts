import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineProduct, defineSettings } from '../../../src/server/define-product.ts';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { parsed } from '../../../src/server/settings.ts';
import { connect } from '../../../src/server/start/connect.ts';
import { open } from '../../../src/server/start/open.ts';
import type { Tracker } from '../../../src/server/tracker/tracker.ts';
import type { RouteDefinition } from '../../../src/shared/routing/routes.ts';
import { createFolder } from '../../support/folder.ts';
import { listenInTest } from '../../support/listen.ts';
import { TEST_ERROR_PAGES, TestDocument } from '../../support/pages-app.tsx';

const TOKEN = 'a-token-of-an-operator';

/** A tracker in memory: whoever has the cookie `key` reads its failures at `/failures`. */
function createMemoryTracker(failures: Map<string, Failure>): Tracker {
  const isKnown = ({ headers: { cookie = '' } }: { headers: { cookie?: string } }) => /\bkey=secret\b/.test(cookie);
  return {
    settings: {
      FAILURES_KEPT: { about: 'How many.', example: '9', schema: parsed('is not 9.', Number).prefault('9') },
    },
    paths: ['/failures'],
    check: { guarded: ['/failures'], headers: [], trouble: [] },
    routes: [],
    files: { folder: '', files: [] },
    toUrl: (address) => `/failures/${address}`,
    configure: () => ({
      secrets: ['secret'],
      open: async () => ({
        takeCredentials: (_req, _res, next) => next(),
        record: (failure, visitor) => !!failures.set(failure.digest, { ...failure, visitor: visitor?.address ?? '' }),
        canOpen: (req) => isKnown(req) && Promise.resolve(true),
        handle: (req, res) => void (isKnown(req) ? res.json([...failures.values()]) : res.sendStatus(401)),
        isKnown: async (digest) => failures.has(digest),
        isEchoAwaited: async () => true,
        listBuilds: async () => [],
        ready: async () => undefined,
        health: () => ({ failures: String(failures.size) }),
        flushSync: () => undefined,
        close: async () => undefined,
      }),
    }),
  };
}

const product = defineProduct({
  settings: defineSettings({}),
  pages: {
    home: { loader: () => ({}) },
    broken: {
      loader() {
        throw new Error('It is broken.');
      },
    },
  },
});

const page = async () => ({ default: () => 'a page' });
const routes: readonly RouteDefinition[] = [
  { id: 'home', path: '/', page },
  { id: 'broken', path: '/broken', page },
];

/** Starts a site up to the point at which it would listen on PORT. */
async function start(tracker: Tracker | undefined, env: Record<string, string> = {}) {
  const dist = createFolder(onTestFinished);
  const dataDir = join(createFolder(onTestFinished), 'data');
  const entry = { script: '/assets/main-1.js', preloads: [], styles: [] };
  writeFileSync(join(dist, 'manifest.json'), JSON.stringify({ buildId: 'BUILD7K3Q', entry, routes: {} }));
  mkdirSync(join(dist, 'client'));
  const all = { DATA_DIR: dataDir, LOG_LEVEL: 'silent', OPERATOR_TOKEN: TOKEN, ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const site = { dist, product, routes, document: TestDocument, errorPages: TEST_ERROR_PAGES };
  const { main, second } = connect(await open({ ...site, ...(tracker && { tracker }) }));
  const [url, deskUrl] = await Promise.all(
    [main, second].map(async (port) => port && `http://127.0.0.1:${await listenInTest(port.server)}`),
  );
  return { url, deskUrl, dataDir };
}

/** Sends a report as a browser does. */
async function report(url: string) {
  const dsn = url.replace('//', '//spillway@');
  const exception = { values: [{ type: 'Error', value: 'In a browser.' }] };
  const lines = [{ dsn: `${dsn}/1` }, { type: 'event' }, { platform: 'javascript', exception }];
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  return (await fetch(`${url}/_report`, { method: 'POST', body })).json();
}

const AS_READER = { headers: { Cookie: 'key=secret' } };

it('a tracker of thirty lines gets failures of server and browser, and shows them', async () => {
  const failures = new Map<string, Failure>();
  const { url = '' } = await start(createMemoryTracker(failures));
  expect((await fetch(url)).status).toBe(200);
  const broken = await fetch(`${url}/broken`);
  const address = broken.headers.get('x-error-digest') ?? '';
  expect([broken.status, await broken.text()]).toEqual([500, expect.stringContaining(address)]);
  expect(await (await fetch(`${url}/_data/broken`, AS_READER)).text()).toContain('/failures/');
  const { digest } = await report(url);
  const found = await (await fetch(`${url}/failures`, AS_READER)).json();
  expect(found).toMatchObject([
    { digest: address.slice(0, 8), title: 'Error: It is broken.', visitor: '127.0.0.1' },
    { digest, side: 'browser', title: 'Error: In a browser.' },
  ]);
  expect((await fetch(`${url}/failures`)).status).toBe(401);
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', failures: '2' });
});

it('without a tracker, pages, errors and reports work, and nothing is stored', async () => {
  const { url = '', dataDir } = await start(undefined);
  const broken = await fetch(`${url}/broken`, AS_READER);
  const address = broken.headers.get('x-error-digest') ?? '';
  expect([broken.status, address]).toEqual([500, expect.stringMatching(/^[0-9A-Z]{8}-[0-9A-Z]{8}$/)]);
  const text = await broken.text();
  expect(text).toContain(address);
  expect(text).not.toContain('href="/failures');
  expect(await report(url)).toEqual({ id: expect.any(String), digest: expect.stringMatching(/^\w{8}$/) });
  expect((await fetch(`${url}/desk`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  const metrics = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  expect(await metrics.text()).toContain('spillway_failures_total{side="server",kind="exception"} 1');
  expect(readdirSync(dataDir)).toEqual([]);
});

it('DESK_PORT has the tracker, health and metrics, and PORT has none of the first and the last', async () => {
  const { url, deskUrl } = await start(createMemoryTracker(new Map()), { DESK_PORT: '3001' });
  const ask = async (path: string) =>
    Promise.all(
      [url, deskUrl].map(async (at) => (await fetch(at + path, { ...AS_READER, redirect: 'manual' })).status),
    );
  expect(await ask('/failures')).toEqual([404, 200]);
  expect(await ask('/metrics')).toEqual([404, 200]);
  expect(await ask('/livez')).toEqual([200, 200]);
  expect(await ask('/')).toEqual([200, 302]);
  expect(await ask('/broken')).toEqual([500, 404]);
});
