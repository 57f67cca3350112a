import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startServer } from '../../support/e2e-server.ts';
import { heading, useSite } from '../site.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'spillway-environments-'));
const OPERATOR_TOKEN = 'a-token-for-two-environments';
const fail = (url: string, path: string) => fetch(url + path, { headers: { accept: 'text/html' } });

/** One store, in which staging has recorded two failures. Production will record one of them too. */
const site = useSite(async () => {
  const staging = await startServer({ DATA_DIR, OPERATOR_TOKEN, SENTRY_ENVIRONMENT: 'staging' });
  await fail(staging.url, '/tour/fail/loader');
  await fail(staging.url, '/tour/fail/render');
  await staging.stop();
  return { DATA_DIR, OPERATOR_TOKEN };
});

afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

test.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('the menu switches between environments %s', async (_name, javaScriptEnabled) => {
  await fail(site.url, '/tour/fail/loader');
  const { page, complaints } = await site.open('/desk', { javaScriptEnabled });
  await page.getByLabel('Token').fill(OPERATOR_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'Incidents');
  complaints.length = 0; // The 401 response is one.
  await page.reload();
  await expect.poll(() => page.locator('[data-row]', { hasText: 'The tour threw' }).count()).toBe(1);

  await page.locator('summary', { hasText: 'production' }).click();
  await page.getByRole('link', { name: 'staging' }).click();
  await expect.poll(() => page.locator('[data-row]', { hasText: 'The tour threw' }).count()).toBe(2);
  await page.getByRole('link', { name: 'loader' }).click();
  await page.getByRole('definition').getByRole('link', { name: 'production' }).click();
  await page.locator('summary', { hasText: 'production' }).waitFor();
  expect(complaints).toEqual([]);
});
