import { existsSync } from 'node:fs';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Document } from '#product/document.tsx';

const html = renderToStaticMarkup(
  <Document lang="rm" head={<meta name="engine" content="here" />}>
    <main>Page</main>
  </Document>,
);

it('renders the head of the engine last, after charset and viewport', () => {
  expect(html).toMatch(/^<html lang="rm"><head><meta charSet="utf-8"\/><meta name="viewport"/);
  expect(html).toContain('<meta name="engine" content="here"/></head><body><main>Page</main></body></html>');
});

it('links only to files in the public folder', () => {
  for (const [, file] of html.matchAll(/href="([^"]+)"/g)) {
    expect(existsSync(new URL(`../../../src/client/public${file}`, import.meta.url)), file).toBe(true);
  }
});
