import { expect, it } from 'vitest';
import type { NotificationTarget } from '../../../../src/server/desk/store/notification-rules.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { type DeskSiteOptions, startDeskSite } from '../../../support/desk-site.ts';
import { VERA } from '../../../support/people.ts';

const PATH = '/desk/notifications';
const target: NotificationTarget = { id: 'hook', name: 'Webhook hooks.example.com' };
const notify = { targets: [target.name], settings: [['Signed', 'Yes']] } as const;
const TEST = { _action: 'notifications.test' };

async function start(options: DeskSiteOptions = {}) {
  const site = await startDeskSite(options);
  return { ...site, cookie: await site.enter() };
}

it('says what to set if there is no target, and offers no test', async () => {
  const { get, post, cookie } = await start();
  const { text, status } = await get(PATH, cookie);
  expect(status).toBe(200);
  for (const name of ['WEBHOOK_URL', 'WEBHOOK_SECRET', 'SMTP_URL', 'MAIL_FROM', 'MAIL_TO'])
    expect(text).toContain(name);
  expect(text).not.toContain('Send a test');
  const reply = await post(PATH, TEST, cookie);
  expect(reply.status).toBe(422);
  expect(reply.text).not.toContain('Not sent');
});

it('shows the targets, what was sent and how it ended', async () => {
  const { get, store, cookie } = await start({ notify });
  await store.storeTestNotification(target, { uid: '1', ok: true, words: 'It answered 200.' });
  await store.storeTestNotification(target, { uid: '2', ok: false, words: 'It answered <500>.' });
  const { text } = await get(PATH, cookie);
  expect(text).toContain('Webhook hooks.example.com');
  expect(text).toContain('It answered 200.');
  expect(text).toContain('It answered &lt;500&gt;.');
  expect(text).toContain('No notifications are waiting.');
  expect(text).toContain('Send a test');
});

it('sends a test, and shows its result', async () => {
  const results = [
    { target: target.name, ok: true, words: 'It answered 200.' },
    { target: 'Mail to ada@example.com', ok: false, words: 'It refused the connection.' },
  ];
  const { post, cookie } = await start({ notify, calls: { sendTestNotifications: async () => results } });
  const { text, status } = await post(PATH, TEST, cookie);
  expect(status).toBe(200);
  const words = text.replaceAll('<!-- -->', '').replace(/<[^>]+>/g, '');
  expect(words).toContain('Sent: Webhook hooks.example.com. It answered 200.');
  expect(words).toContain('Not sent: Mail to ada@example.com. It refused the connection.');
});

it('lets operators send a test and viewers read, and rejects everyone else', async () => {
  let tests = 0;
  const sendTestNotifications = async () => {
    tests += 1;
    return [];
  };
  const site = await start({ notify, calls: { sendTestNotifications } });
  const vera = await site.enter(VERA.token);
  expect((await site.get(PATH)).status).toBe(401);
  expect((await site.post(PATH, TEST)).status).toBe(401);
  const seen = await site.get(PATH, vera);
  expect(seen.status).toBe(200);
  expect(seen.text).not.toContain('Send a test');
  expect((await site.post(PATH, TEST, vera)).status).toBe(403);
  const foreign = await site.post(PATH, TEST, site.cookie).set('Sec-Fetch-Site', 'cross-site');
  expect(foreign.status).toBe(403);
  expect(tests).toBe(0);
});

it('is linked for operators', async () => {
  const site = await start();
  const link = `href="${PATH}"`;
  expect((await site.get('/desk', site.cookie)).text).toContain(link);
  expect((await site.get('/desk', await site.enter(VERA.token))).text).not.toContain(link);
});

it('says that the store is unavailable', async () => {
  const listNotifications = () => Promise.reject(new StoreAwayError('away'));
  const { get, cookie } = await start({ notify, calls: { listNotifications } });
  expect((await get(PATH, cookie)).status).toBe(503);
});
