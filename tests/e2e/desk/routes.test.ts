import { beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { heading, hydrated, useSite } from '../site.ts';
import { deskSession } from './session.ts';

const site = useSite(async () => ({}));

beforeAll(async () => {
  const headers = { accept: 'text/html' };
  const paths = ['/', '/', '/', '/tour/fail/loader', '/tour/fail/render', '/tour/streaming', '/not/a/page'];
  for (const path of paths) await (await fetch(site.url + path, { headers })).text();
});

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('routes %s', (_name, javaScriptEnabled) => {
  test('are listed with requests, errors and durations, and sorted by a click', async () => {
    const { page, complaints } = await site.open('/desk', { session: deskSession, javaScriptEnabled });
    await page.getByRole('link', { name: 'Routes' }).click();
    await heading(page, 'Routes, last 24 hours');
    if (javaScriptEnabled) await hydrated(page);
    const rows = page.getByRole('row');
    const failed = page.getByRole('row', { name: '/tour/fail/loader' });
    expect(await failed.getByRole('cell').allInnerTexts()).toEqual([
      '1',
      '100.0 %',
      expect.any(String),
      expect.any(String),
    ]);
    await page.getByRole('columnheader', { name: 'Errors' }).getByRole('link').click();
    await page.locator('th[aria-sort=descending]', { hasText: 'Errors' }).waitFor();
    expect(await rows.nth(1).getByRole('rowheader').innerText()).toMatch(/^\/tour\/fail\//);
    await page.getByRole('columnheader', { name: 'Route' }).getByRole('link').click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Route' }).waitFor();
    const routes = await page.getByRole('rowheader').allInnerTexts();
    expect(routes).toEqual(routes.toSorted());
    expect(routes).toContain('/tour/streaming');
    expect(complaints).toEqual([]);
    if (javaScriptEnabled) await expectAccessible(page);
  });

  test('name the slowest request of the hour', async () => {
    const { page } = await site.open('/desk/routes', { session: deskSession, javaScriptEnabled });
    const [slowest = ''] = await page.getByRole('listitem').filter({ hasText: 'request' }).allInnerTexts();
    expect(slowest).toMatch(/UTC [\d.]+ m?s [A-Z]+ \/\S*, (?:\d{3}|the visitor left)[\s\S]* request [\w-]{36}/);
    if (javaScriptEnabled) await expectAccessible(page);
  });
});
