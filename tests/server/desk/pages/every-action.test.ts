import { describe, expect, it } from 'vitest';
import { pages } from '../../../../src/server/desk/pages/index.ts';
import { routes } from '../../../../src/shared/desk/routes.tsx';
import type { RouteDefinition } from '../../../../src/shared/engine/routing/routes.ts';
import { type DeskSite, startDeskSite } from '../../../support/desk-site.ts';
import { ADA, VERA } from '../../../support/people.ts';
import { ingest, fullOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';

/** Fields for all actions, so that no form is rejected because of a missing field. */
const FIELDS = {
  digest: DIGEST,
  into: '2M3KQ7XA',
  text: 'words',
  assignee: 'mallory',
  occurrence: '9F4W0R6B',
  id: '1',
  token: 'none of this desk',
};

function pathOf(id: string, nodes: readonly RouteDefinition[] = routes): string | undefined {
  for (const { id: own, path, children = [] } of nodes) {
    if (own === id) return path?.replace(':digest', DIGEST).replace(/\/:\w+\??/g, '');
    const found = pathOf(id, children);
    if (found !== undefined) return found;
  }
  return undefined;
}

const actions = Object.entries(pages).flatMap(([id, page]) =>
  Object.keys('actions' in page ? page.actions : {}).map((name) => [`${id}.${name}`, pathOf(id) ?? '/desk'] as const),
);
const changing = actions.filter(([action]) => !action.startsWith('root.'));

async function start() {
  const site = await startDeskSite();
  await ingest(site.store, fullOf({ digest: DIGEST }), fullOf({ digest: '2M3KQ7XA' }));
  const before = await site.store.readChanges();
  return {
    site,
    async expectUnchanged() {
      expect(await site.store.readChanges()).toBe(before);
      expect(await site.store.listChanges(DIGEST, 10)).toEqual([]);
    },
  };
}

type Sent = (site: DeskSite, path: string, fields: Record<string, string>) => ReturnType<DeskSite['post']>;

describe.each(actions)('%s', (_action, path) => {
  const fields = { ...FIELDS, _action };

  it.each<[string, (cookie: string) => Sent]>([
    [
      'a form of another site',
      (cookie) => (site, to, form) => site.post(to, form, cookie).set('Sec-Fetch-Site', 'cross-site'),
    ],
    [
      'a form on the same site with another origin',
      (cookie) => (site, to, form) => site.post(to, form, cookie).set('Sec-Fetch-Site', 'same-site'),
    ],
    [
      'an old browser on another site',
      (cookie) => (site, to, form) =>
        site.post(to, form, cookie).unset('Sec-Fetch-Site').set('Origin', 'https://evil.example'),
    ],
    [
      'a page with an opaque origin',
      (cookie) => (site, to, form) => site.post(to, form, cookie).unset('Sec-Fetch-Site').set('Origin', 'null'),
    ],
  ])('is refused to %s, even with the cookie', async (_who, send) => {
    const { site, expectUnchanged } = await start();
    const cookie = await site.enter();
    expect((await send(cookie)(site, path, fields)).status).toBe(403);
    await expectUnchanged();
    expect((await site.get('/desk', cookie)).status).toBe(200);
  });
});

describe.each(changing)('%s', (_action, path) => {
  const fields = { ...FIELDS, _action };

  it('is refused to a viewer', async () => {
    const { site, expectUnchanged } = await start();
    expect((await site.post(path, fields, await site.enter(VERA.token))).status).toBe(403);
    await expectUnchanged();
  });

  it.each(['', 'desk=forged', `desk=${'a'.repeat(43)}`])(
    'is refused without a session, with the cookie "%s"',
    async (cookie) => {
      const { site, expectUnchanged } = await start();
      expect((await site.post(path, fields, cookie || undefined)).status).toBe(401);
      await expectUnchanged();
    },
  );

  it('is refused if another replica has ended the session that this one has just read', async () => {
    const { site, expectUnchanged } = await start();
    const cookie = await site.enter();
    expect((await site.get('/desk', cookie)).status).toBe(200);
    const replica = await site.restart([ADA, VERA]);
    await replica.post('/desk', { _action: 'root.signOut' }, cookie);
    expect((await site.get('/desk', cookie)).status).toBe(200);
    expect((await site.post(path, fields, cookie)).status).toBe(401);
    await expectUnchanged();
    expect((await site.get('/desk', cookie)).status).toBe(401);
  });
});

it('the list contains every action of the desk', () => {
  expect(actions.length).toBeGreaterThan(15);
  expect(new Set(actions.map(([, path]) => path)).size).toBeGreaterThan(1);
});
