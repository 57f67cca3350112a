import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { visitPage } from '../../support/product/visit-page.ts';

const { html } = await visitPage('/');

it('begins with charset and viewport', () => {
  expect(html).toMatch(/<head><meta charSet="utf-8"\/><meta name="viewport"/);
});

it('loads only files in the public folder', () => {
  const links = html.match(/<link [^>]*rel="(?:icon|stylesheet|preload|modulepreload)"[^>]*>/g) ?? [];
  const files = links.flatMap((link) => /href="(\/[^"]+)"/.exec(link)?.[1] ?? []);
  for (const file of files.filter((one) => !one.startsWith('/assets/'))) {
    expect(existsSync(new URL(`../../../src/client/public${file}`, import.meta.url)), file).toBe(true);
  }
});
