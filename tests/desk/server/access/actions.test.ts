import { describe, expect, it, vi } from 'vitest';
import { pages } from '../../../../src/desk/server/pages/desk-pages.ts';
import { ADA, VERA } from '../../../support/people.ts';
import { type DeskSite, startDeskSite } from '../../support/desk-site.ts';
import { fullOf, ingest } from '../../support/stores.ts';

const PATHS = { root: '/desk', incidents: '/desk', incident: '/desk/7K3QM2XA', notifications: '/desk/notifications' };

/** Fields for all actions, so that none is rejected because of a missing field. */
const FIELDS = { digest: '7K3QM2XA', note: 'words', occurrence: '9F4W0R6B', id: '1', token: 'of nobody' };

const ACTIONS = Object.entries(pages).flatMap(([id, page]) =>
  Object.keys('actions' in page ? page.actions : {}).map(
    (name) => [`${id}.${name}`, PATHS[id as keyof typeof PATHS]] as const, // `pages` has the same keys
  ),
);
const CHANGES = ACTIONS.filter(([action]) => !action.startsWith('root.'));

type Post = (path: string, fields: Record<string, string>) => ReturnType<DeskSite['post']>;

/** Posts every action, and expects the status and an unchanged store. */
async function expectRefused(
  actions: typeof ACTIONS,
  status: number,
  toPost: (site: DeskSite, cookie: string) => Post | Promise<Post>,
  token: string = ADA.token,
) {
  const sendTestNotifications = vi.fn(async () => []);
  const site = await startDeskSite({ calls: { sendTestNotifications } });
  await ingest(site.store, fullOf({ occurrence: '9F4W0R6B' }));
  await site.store.history.addNote('7K3QM2XA@test', 'kept', 'ada');
  const before = await site.store.readChanges();
  expect(Object.keys(PATHS)).toEqual(Object.keys(pages));
  for (const [action, path] of actions) {
    const cookie = await site.enter(token);
    const post = await toPost(site, cookie);
    expect((await post(path, { ...FIELDS, _action: action })).status, action).toBe(status);
  }
  expect(await site.store.readChanges()).toBe(before);
  expect(sendTestNotifications).not.toHaveBeenCalled();
}

describe('every action', () => {
  it.each([
    ['a form of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another origin of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['an old browser on another site', { Origin: 'https://evil.example' }],
  ])('is refused to %s, even with the cookie', async (_who, headers) => {
    await expectRefused(
      ACTIONS,
      403,
      (site, cookie) => (path, fields) => site.post(path, fields, cookie).unset('Sec-Fetch-Site').set(headers),
    );
  });
});

describe('every change', () => {
  it('is refused to a viewer', async () => {
    await expectRefused(CHANGES, 403, (site, cookie) => (path, fields) => site.post(path, fields, cookie), VERA.token);
  });

  it.each([undefined, 'desk=forged', `desk=${'a'.repeat(43)}`])('is refused with the cookie %s', async (cookie) => {
    await expectRefused(CHANGES, 401, (site) => (path, fields) => site.post(path, fields, cookie));
  });

  it('is refused if another replica has ended the session', async () => {
    await expectRefused(CHANGES, 401, async (site, cookie) => {
      const replica = await site.restart([ADA, VERA]);
      expect((await site.get('/desk', cookie)).status).toBe(200);
      await replica.post('/desk', { _action: 'root.signOut' }, cookie);
      return (path, fields) => site.post(path, fields, cookie);
    });
  });
});
