import { expect, it } from 'vitest';
import { VERA } from '../../../support/people.ts';
import { type DeskSiteOptions, startDeskSite } from '../../support/desk-site.ts';

const PATH = '/desk/notifications';
const TEST = { _action: 'notifications.test' };
const targets = ['Webhook hooks.example.com'];

async function start(options: DeskSiteOptions = {}) {
  const site = await startDeskSite(options);
  const cookie = await site.enter();
  return { ...site, show: () => site.get(PATH, cookie), act: () => site.post(PATH, TEST, cookie), cookie };
}

it('says what to set if there is no target, and sends no test', async () => {
  const { show, act } = await start();
  const { text } = await show();
  for (const name of ['WEBHOOK_URL', 'SMTP_URL', 'MAIL_FROM', 'MAIL_TO']) expect(text).toContain(name);
  expect(text).not.toContain('Send a test');
  expect((await act()).status).toBe(422);
});

it('can be read by viewers, but only operators see the link and the form', async () => {
  const { get, enter, cookie } = await start({ targets });
  const vera = await enter(VERA.token);
  const seen = await get(PATH, vera);
  expect([seen.status, seen.text.includes('Send a test')]).toEqual([200, false]);
  const hasLink = async (sent: string) => (await get('/desk', sent)).text.includes(`href="${PATH}"`);
  expect([await hasLink(cookie), await hasLink(vera)]).toEqual([true, false]);
});
