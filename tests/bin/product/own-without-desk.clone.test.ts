import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startWebhook } from '../../support/receivers.ts';
import { type Clone, createClone } from './clone.ts';

const TOKEN = 'a-token-of-an-operator';
const PASSED = /^[1-9]\d* passed, 0 failed$/m;

let clone: Clone;
beforeAll(async () => {
  clone = createClone();
  await expect(clone.run('npm run own -- --without cats --yes')).rejects.toThrow('[--without desk]');
  const said = await clone.run('npm run own -- --without desk --yes');
  expect(said).toContain('It also removes the desk');
}, 120_000);
afterAll(() => clone?.remove());

/** These say whose code a folder is, whether it exists or not. */
const KNOWN = [
  'src/shared/whose-code.mjs',
  'tests/architecture.test.ts',
  'tests/server/errors/digest/location-table.test.ts',
];

function listMentions(folder: string): string[] {
  const entries = readdirSync(join(clone.folder, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /desk/i.test(path.slice(clone.folder.length)) || /desk/i.test(readFileSync(path, 'utf8')))
    .map((path) => path.slice(clone.folder.length + 1))
    .filter((path) => !KNOWN.includes(path));
}

describe('npm run own -- --without desk', () => {
  test('leaves nothing of it in src, tests, the build and the settings', () => {
    for (const folder of ['src', 'tests', 'build']) expect(listMentions(folder), folder).toEqual([]);
    for (const path of ['.env.example', 'package.json', 'build.mjs', 'compose.yaml', 'Dockerfile']) {
      expect(clone.read(path), path).not.toMatch(/\bdesk\b/i);
    }
  });

  test('removes the packages that nothing else needs', () => {
    const { dependencies, scripts } = JSON.parse(clone.read('package.json'));
    expect(Object.keys(dependencies)).not.toEqual(expect.arrayContaining(['pg']));
    expect(scripts).not.toHaveProperty('desk');
    const { packages } = JSON.parse(clone.read('package-lock.json'));
    expect(packages[''].dependencies).toEqual(dependencies);
    expect(packages['node_modules/pg'].dev).toBe(true);
  });

  test('leaves an app that type-checks, lints and builds', async () => {
    await clone.run('npm run check');
  });

  test('leaves tests that pass, those of Spillway too', async () => {
    expect(await clone.run('npm test')).toMatch(PASSED);
    expect(await clone.run('npm run test:unit')).toMatch(PASSED);
    expect(await clone.run('npm run test:all -- tests/build tests/server/start tests/server/reports/sentry')).toMatch(
      PASSED,
    );
  }, 900_000);

  test('logs each failure, sends it to Sentry, and links to a search there', async () => {
    await clone.run('npm run new -- page /broken');
    const page = 'src/server/product/pages/broken.ts';
    const failing = "loader: () => {\n    throw new Error('It is broken.');\n  },";
    writeFileSync(join(clone.folder, page), clone.read(page).replace(/loader: .*/, failing));
    const upstream = await startWebhook();
    onTestFinished(() => upstream.close());
    const url = await clone.start({
      OPERATOR_TOKEN: TOKEN,
      SENTRY_DSN: upstream.url.replace('//', '//abc123@').replace('/hook', '/7'),
      FAILURE_LINK: 'https://sentry.example/issues/?query=digest%3A{digest}',
    });
    const broken = await fetch(`${url}/broken`);
    const address = broken.headers.get('x-error-digest') ?? '';
    const digest = address.slice(0, 8);
    expect([broken.status, address]).toEqual([500, expect.stringMatching(/^[0-9A-Z]{8}-[0-9A-Z]{8}$/)]);
    const text = await broken.text();
    expect(text).toContain(address);
    expect(text).toContain(`https://sentry.example/issues/?query=digest%3A${digest}`);
    await expect
      .poll(() => upstream.posted.map(({ body }) => body).join('\n'))
      .toContain(`"fingerprint":["${digest}"]`);

    for (const path of ['/desk', `/desk/${address}`, '/api/desk/incidents', '/api/desk']) {
      const reply = await fetch(url + path);
      expect([path, reply.status]).toEqual([path, 404]);
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect((await fetch(url + path, { headers })).status).toBe(404);
    }
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await metrics.text()).toContain('spillway_failures_total{side="server",kind="exception"} 1');
  });
});

test('works with accounts too', async () => {
  const other = createClone();
  onTestFinished(() => other.remove());
  await other.run('npm run own -- --with accounts --without desk --yes');
  expect(JSON.parse(other.read('package.json')).dependencies).toHaveProperty('pg');
  await other.run('npm run check');
  expect(await other.run('npm test')).toMatch(PASSED);
}, 600_000);
