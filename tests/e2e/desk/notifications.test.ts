import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type E2eServer, startServer } from '../../support/e2e-server.ts';
import {
  type MailReceiver,
  type Posted,
  startMailServer,
  startWebhook,
  type WebhookReceiver,
} from '../../support/receivers.ts';
import { until } from '../../support/until.ts';
import { expectAccessible } from '../accessible.ts';
import { heading, hydrated, useSite } from '../site.ts';

const SECRET = 'a-secret-of-the-webhook';
/** Enough for a loaded machine (ms). */
const PATIENCE = 30_000;

let webhook: WebhookReceiver;
let mails: MailReceiver;

async function prepare(): Promise<Record<string, string>> {
  webhook ??= await startWebhook();
  mails ??= await startMailServer();
  return {
    WEBHOOK_URL: webhook.url,
    WEBHOOK_SECRET: SECRET,
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'desk@example.com',
    MAIL_TO: 'ada@example.com',
    NOTIFY_PRIVATE_TARGETS: '127.0.0.1',
    DESK_ORIGIN: 'https://desk.example.com',
  };
}

afterAll(async () => {
  await webhook?.close();
  await mails?.close();
});

const site = useSite(prepare);

async function openDesk(server: E2eServer, path: string, options: Parameters<typeof site.open>[1] = {}) {
  const visit = await site.open(server.url + path, { viewport: { width: 1280, height: 900 }, ...options });
  const token = readFileSync(join(server.dataDir, 'desk-token'), 'utf8').trim();
  await visit.page.getByLabel('Token').fill(token);
  await visit.page.getByRole('button', { name: 'Sign in' }).click();
  await heading(visit.page, 'Notifications');
  visit.complaints.length = 0; // the 401 response is one
  return visit;
}

describe('a recipient', () => {
  test('is notified once of a failure, although the receiver and the server were down for a while', async () => {
    const hook = await startWebhook();
    onTestFinished(() => hook.close());
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const dataDir = mkdtempSync(join(tmpdir(), 'spillway-data-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const env = {
      ...(await prepare()),
      WEBHOOK_URL: hook.url,
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      DATA_DIR: dataDir,
    };
    hook.answer = { status: 503 };
    mail.answer = '451 not now';

    const first = await startServer(env);
    const addresses = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const reply = await fetch(`${first.url}/tour/fail/loader`, { headers: { accept: 'text/html' } });
        return reply.headers.get('x-error-digest') ?? '';
      }),
    );
    const digest = addresses[0]?.slice(0, 8) ?? '';
    await until(() => hook.posted.length > 0, 'the first try', PATIENCE);
    await first.stop();
    expect(mail.mails).toEqual([]);
    const tried = hook.posted.length;

    hook.answer = { status: 204 };
    mail.answer = '250 OK';
    const second = await startServer(env);
    await until(() => hook.posted.length > tried && mail.mails.length > 0, 'the message and the mail', PATIENCE);
    await fetch(`${second.url}/tour/fail/loader`);
    await second.stop();

    expect(hook.posted).toHaveLength(tried + 1);
    expect(mail.mails).toHaveLength(1);
    const { headers = {}, body = '' } = hook.posted.at(-1) ?? ({} as Partial<Posted>);
    const sent = JSON.parse(body);
    expect(sent).toMatchObject({
      event: 'incident.new',
      link: `https://desk.example.com/desk/${digest}`,
      incident: {
        digest,
        title: 'Error: The tour threw this in a loader.',
        file: 'src/server/product/pages/fail-loader.ts',
        line: expect.any(Number),
      },
    });
    expect(new Set(hook.posted.map((posted) => posted.headers['x-spillway-id']))).toEqual(new Set([sent.id]));
    const signed = `${headers['x-spillway-timestamp']}.${body}`;
    expect(headers['x-spillway-signature']).toBe(`sha256=${createHmac('sha256', SECRET).update(signed).digest('hex')}`);
    expect(mail.mails[0]?.data).toContain('Subject: [production] New: Error: The tour threw this in a loader.');
    expect(first.log() + second.log()).not.toContain(SECRET);
    expect(first.log()).not.toContain(hook.url);
  });
});

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('a test notification %s', (_name, javaScriptEnabled) => {
  test('is sent, and the page shows the result', async () => {
    const { page, complaints } = await openDesk(site.server, '/desk/notifications', { javaScriptEnabled });
    const [before, mailed] = [webhook.posted.length, mails.mails.length];
    mails.answer = '550 no such user';
    onTestFinished(() => {
      mails.answer = '250 OK';
    });
    if (javaScriptEnabled) await hydrated(page);
    await page.getByRole('button', { name: 'Send a test' }).click();
    const said = page.getByRole('status');
    await said.getByText(/^Sent: Webhook 127\.0\.0\.1:\d+\. It answered 200\.$/).waitFor();
    await said.getByText('The mail server refused it (550). Check MAIL_FROM and MAIL_TO.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Test' }).filter({ hasText: 'Failed' }).first().waitFor();
    expect([webhook.posted.length, mails.mails.length]).toEqual([before + 1, mailed]);
    expect(JSON.parse(webhook.posted.at(-1)?.body ?? '')).toMatchObject({ event: 'test' });
    expect(complaints).toEqual([]);
  });
});

describe('axe finds no violation, and nothing overflows', () => {
  test('with channels, in light and dark mode and at 390 px', async () => {
    await fetch(`${site.server.url}/tour/fail/render`);
    await until(() => webhook.posted.some(({ body }) => body.includes('incident.new')), 'a message', PATIENCE);
    const { page, complaints } = await openDesk(site.server, '/desk/notifications');
    await hydrated(page);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test('without channels', async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const { page, complaints } = await openDesk(server, '/desk/notifications');
    await hydrated(page);
    await page.getByText('Notifications are off.').waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});
