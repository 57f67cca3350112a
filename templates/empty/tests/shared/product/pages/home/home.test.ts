import { expect, it } from 'vitest';
import { visitPage } from '../../../../support/product/visit-page.ts';

it('has a title, one heading and the first steps', async () => {
  const { status, html } = await visitPage('/');
  expect(status).toBe(200);
  expect(html).toMatch(/<title>[^<]+<\/title>/);
  expect(html.match(/<h1/g)).toHaveLength(1);
  expect(html).toContain('npm run new -- page /about');
  expect(html).toContain('docs/guide/01-pages.md');
});
