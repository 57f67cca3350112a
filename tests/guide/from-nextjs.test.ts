import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNextApp } from '../support/guide.ts';
import { createVisitor, type OwnedApp } from '../support/owned-app.ts';

let app: OwnedApp;
beforeAll(() => {
  app = createNextApp();
  return app.build();
});
afterAll(() => app?.remove());

it('the page that is ported from Next.js searches, lists and adds without JavaScript', async () => {
  const visitor = createVisitor((await app.start()).url);
  const read = async (search: string) => (await visitor.get(`/invoices${search}`)).text();
  const list = async (search: string) => [...(await read(search)).matchAll(/<p>(\w+)<\/p>/g)].map(([, name]) => name);

  expect(await list('')).toEqual(['Ada', 'Emmy']);
  expect(await list('?page=2')).toEqual(['Grace']);
  expect(await list('?query=emmy&page=none')).toEqual(['Emmy']);
  expect(await read('?query=a')).toContain('href="/invoices?query=a&amp;page=1"');

  const add = (customer: string) => visitor.post('/invoices', { _action: 'invoices.create', customer });
  const refused = await add('');
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('Please enter a customer.')]);
  expect((await add('Alan')).status).toBe(303);
  expect(await list('?page=2')).toEqual(['Grace', 'Alan']);
});
