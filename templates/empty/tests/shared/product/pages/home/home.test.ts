import { expect, it } from 'vitest';
import { visitPage } from '../../../../support/product/visit-page.ts';

it('has a title and one heading', async () => {
  const { status, html } = await visitPage('/');
  expect(status).toBe(200);
  expect(html).toMatch(/<title>[^<]+<\/title>/);
  expect(html.match(/<h1/g)).toHaveLength(1);
});
