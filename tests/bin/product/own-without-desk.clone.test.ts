import { existsSync, writeFileSync } from 'node:fs';
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

describe('npm run own -- --without desk', () => {
  test('deletes two folders, a line, and the settings of the desk', async () => {
    expect(clone.read('.env.example')).toMatch(/\n\n# .+\n# DRAIN_DEADLINE=8\n\n# .+\n# OPERATOR_TOKEN=/);
    expect(clone.read('.env.example')).not.toMatch(/# (?:DESK_DATABASE_URL|WEBHOOK_URL|TRACE_LINK|TOUR_FAILURES)=/);
    for (const folder of ['src/desk', 'tests/desk']) expect(existsSync(join(clone.folder, folder)), folder).toBe(false);
    expect(clone.read('src/server/main.ts')).not.toMatch(/desk|tracker/);
    await expect(clone.run('npm run desk -- list')).rejects.toThrow('This app has no desk');
  });

  test('leaves an app that type-checks, lints and builds', async () => {
    await clone.run('npm run check');
  });

  test('leaves tests that pass, those of Spillway too', async () => {
    expect(await clone.run('npm test')).toMatch(PASSED);
    expect(await clone.run('npm run test:unit')).toMatch(PASSED);
    expect(
      await clone.run('npm run test:all -- tests/build tests/server/start tests/server/reports tests/bin/new'),
    ).toMatch(PASSED);
  }, 900_000);

  test('logs each failure and sends it to Sentry', async () => {
    await clone.run('npm run new -- page /broken');
    const page = 'src/server/product/pages/broken.ts';
    const failing = "loader: () => {\n    throw new Error('It is broken.');\n  },";
    writeFileSync(join(clone.folder, page), clone.read(page).replace(/loader: .*/, failing));
    const upstream = await startWebhook();
    onTestFinished(() => upstream.close());
    const url = await clone.start({
      OPERATOR_TOKEN: TOKEN,
      SENTRY_DSN: upstream.url.replace('//', '//abc123@').replace('/hook', '/7'),
    });
    const broken = await fetch(`${url}/broken`);
    const address = broken.headers.get('x-error-digest') ?? '';
    expect([broken.status, address]).toEqual([500, expect.stringMatching(/^[0-9A-Z]{8}-[0-9A-Z]{8}$/)]);
    expect(await broken.text()).toContain(address);
    await expect
      .poll(() => upstream.posted.map(({ body }) => body).join('\n'))
      .toContain(`"fingerprint":["${address.slice(0, 8)}"]`);
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const path of ['/desk', `/desk/${address}`, '/api/desk/incidents']) {
      expect([path, (await fetch(url + path, { headers })).status]).toEqual([path, 404]);
    }
  });
});

test('works with accounts too', async () => {
  const other = createClone();
  onTestFinished(() => other.remove());
  await other.run('npm run own -- --with accounts --without desk --yes');
  await other.run('npm run check');
  expect(await other.run('npm test')).toMatch(PASSED);
}, 600_000);
