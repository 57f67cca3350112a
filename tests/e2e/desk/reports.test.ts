import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareBrowser, watch } from '../../support/browser.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import { type MailReceiver, startMailServer } from '../../support/receivers.ts';
import { until } from '../../support/until.ts';
import { expectAccessible } from '../accessible.ts';
import { heading, hydrated } from '../site.ts';

const TOKEN = 'a-token-of-grace-0123';
/** Enough for a loaded machine (ms). */
const PATIENCE = 30_000;
/** Half a day away, so that no summary is due while the test runs. */
const SUMMARY_TIME = new Date(Date.now() + 12 * 3600_000).toISOString().slice(11, 16);

let clone: OwnedApp;
let app: RunningApp;
let mails: MailReceiver;

beforeAll(async () => {
  clone = createOwnedApp();
  clone.write({
    'src/server/product/pages/home.ts': `
      import { report, setTags } from '#engine/server';
      export const home = {
        guard: () => setTags({ plan: 'pro' }),
        async loader({ context }) {
          context.log.info({ order: 7, password: ['can', 'ary'].join('') }, 'Charging the card.');
          context.log.warn({ provider: { name: 'acme', tries: 2 } }, 'The provider is slow.');
          report(new Error('The card was declined.'), { level: 'warning', tags: { provider: 'acme' }, extra: { attempt: 2 } });
          return {};
        },
      };`,
    'src/server/product/pages/index.ts': `
      import { home } from './home.ts';
      export const pages = { root: null, home };`,
    'src/shared/product/pages/home/home.tsx': `
      import { report } from '#engine';
      export default function Home() {
        return <><title>Home</title><h1>Home</h1><button onClick={() => report(new Error('The cart is empty.'), { tags: { step: 'pay' } })}>pay</button></>;
      }`,
  });
  mails = await startMailServer();
  await clone.build();
  app = await startApp(clone.folder, {
    OPERATOR_TOKEN: `grace:${TOKEN}`,
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'desk@example.com',
    MAIL_TO: 'production:team@example.com,staging:other@example.com',
    MAIL_PEOPLE: 'ada:ada@example.com',
    MAIL_SUMMARY: SUMMARY_TIME,
    NOTIFY_AFTER: '100 in 5m,20 visitors',
    NOTIFY_PRIVATE_TARGETS: '127.0.0.1',
  });
}, 120_000);

afterAll(async () => {
  await app?.stop();
  await mails?.close();
  clone?.remove();
});

async function open(path: string) {
  const context = await (await shareBrowser()).newContext({
    baseURL: app.url,
    userAgent: 'Mozilla/5.0 Chrome/150.0.0.0',
  });
  const page = await context.newPage();
  const watched = await watch(page);
  await page.goto(path);
  return { page, ...watched };
}

async function signIn(page: Page, to: string) {
  await page.goto(to);
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function shoot(page: Page, name: string) {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
}

test('a report is found by its tag, shown with level, log lines and tags, and assigned to someone who gets a mail', async () => {
  const { page, complaints } = await open('/');
  await heading(page, 'Home');
  await hydrated(page);
  const reported = page.waitForResponse((response) => response.url().endsWith('/_report'));
  await page.getByRole('button', { name: 'pay' }).click();
  await reported;
  expect(complaints).toEqual([]);

  await signIn(page, '/desk?search=tag%3Aprovider%3Dacme');
  await page.getByRole('link', { name: 'Error: The card was declined.' }).click();
  await heading(page, 'Error: The card was declined.');
  await page.getByText('Warning', { exact: true }).first().waitFor();
  const trail = page.locator('section', { hasText: 'What led to it' });
  for (const text of ['Charging the card.', 'The provider is slow.', '{"name":"acme","tries":2}', '[redacted]']) {
    await trail.getByText(text).first().waitFor();
  }
  const text = (await page.locator('main').innerText()).replaceAll('\n', ' ');
  for (const pair of ['plan pro', 'provider acme', 'Level warning', 'attempt 2']) expect(text).toContain(pair);
  expect(text).not.toContain('canary');
  await page.emulateMedia({ colorScheme: 'light' });
  await shoot(page, 'incident-light');
  await hydrated(page);
  complaints.length = 0;
  await expectAccessible(page);
  await shoot(page, 'incident-dark-390');

  await page.getByLabel('Assigned to').fill('ada');
  await page.getByLabel('Assigned to').press('Enter');
  await until(() => mails.mails.length > 0, 'the mail', PATIENCE);
  expect(mails.mails).toMatchObject([{ to: ['ada@example.com'] }]);
  expect(mails.mails[0]?.data).toContain('grace assigned it to ada.');

  await page.goto('/desk/notifications');
  await page.getByText('after 100 occurrences in 5 min, or after 20 visitors').waitFor();
  await page.getByText(`by mail, at ${SUMMARY_TIME} UTC`).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Assigned' }).filter({ hasText: 'Mail to ada' }).waitFor();
  await hydrated(page);
  await expectAccessible(page);
  await shoot(page, 'notifications-dark-390');
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  await shoot(page, 'notifications-light');

  await page.goto('/desk?search=tag%3Astep%3Dpay');
  await page.getByRole('link', { name: 'Error: The cart is empty.' }).click();
  await heading(page, 'Error: The cart is empty.');
  await page.getByText('in the browser (unverified)').waitFor();
  expect(complaints).toEqual([]);
});
