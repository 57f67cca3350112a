import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/server/desk/desk.ts';
import type { NotifySettings } from '../../../../src/server/desk/notifications/settings.ts';
import { createFailure, openTestDesk } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';
import { startMailServer, startWebhook, type WebhookReceiver } from '../../../support/receivers.ts';
import { until } from '../../../support/until.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

/** How long a loaded machine can take for a message that is due in five seconds (ms). */
const PATIENCE = 30_000;

const postgres = usePostgres();

async function useWebhook(): Promise<WebhookReceiver> {
  const webhook = await startWebhook();
  onTestFinished(() => webhook.close());
  return webhook;
}

function settingsOf(wanted: Partial<NotifySettings>): NotifySettings {
  return {
    webhooks: [],
    webhookFormat: undefined,
    webhookSecret: undefined,
    mail: undefined,
    after: [{ count: 1 }],
    privateTargets: ['127.0.0.1'],
    heartbeatUrl: undefined,
    deskOrigin: 'https://desk.example.com',
    environment: 'test',
    ...wanted,
  };
}

async function open(dataDir: string, notify: NotifySettings, databaseUrl?: string): Promise<Desk> {
  const desk = await openTestDesk({ dataDir, databaseUrl, notify });
  onTestFinished(() => desk.close());
  return desk;
}

const listDigests = ({ posted }: WebhookReceiver) => posted.map(({ body }) => JSON.parse(body).incident?.digest);

describe.each(['SQLite', 'PostgreSQL'])('a desk on %s', (name) => {
  const toUrl = () => (name === 'SQLite' ? undefined : postgres.createDatabase());

  it('sends a webhook and an email for a journaled failure', async () => {
    const [webhook, mails] = [await useWebhook(), await startMailServer()];
    onTestFinished(() => mails.close());
    const mail = {
      smtpUrl: `smtp://127.0.0.1:${mails.port}`,
      from: 'desk@example.com',
      to: ['ada@example.com'],
      people: { grace: 'grace@example.com' },
      summaryAt: undefined,
    };
    const desk = await open(createFolder(onTestFinished), settingsOf({ webhooks: [webhook.url], mail }), await toUrl());
    for (let count = 0; count < 50; count += 1) desk.journal(createFailure());
    await until(() => webhook.posted.length > 0 && mails.mails.length > 0, 'both', PATIENCE);
    await desk.calls.settle();
    expect(listDigests(webhook)).toEqual(['7K3QM2XA']);
    expect(mails.mails).toHaveLength(1);
    await expect
      .poll(async () => (await desk.calls.listNotifications(10)).done.map(({ state }) => state), { timeout: PATIENCE })
      .toEqual(['sent', 'sent']);
    // An assignment goes only to the person.
    await desk.calls.changeIncident('7K3QM2XA@production', { assignee: 'grace' }, { author: 'ada' });
    await until(() => mails.mails.length === 2, 'the mail to grace', PATIENCE);
    expect(mails.mails[1]).toMatchObject({ to: ['grace@example.com'] });
    expect(webhook.posted).toHaveLength(1);
  });

  it('retries after a restart what failed before, and sends it once', async () => {
    const webhook = await useWebhook();
    webhook.answer = { status: 503 };
    const [dataDir, url] = [createFolder(onTestFinished), await toUrl()];
    const settings = settingsOf({ webhooks: [webhook.url] });
    const first = await open(dataDir, settings, url);
    first.journal(createFailure());
    await until(() => webhook.posted.length === 1, 'the first try', PATIENCE);
    await first.close();
    webhook.answer = { status: 200 };
    const second = await open(dataDir, settings, url);
    await until(() => webhook.posted.length === 2, 'the second try', PATIENCE);
    second.journal(createFailure());
    await second.flush();
    expect(listDigests(webhook)).toEqual(['7K3QM2XA', '7K3QM2XA']);
    const ids = webhook.posted.map(({ headers }) => headers['x-spillway-id']);
    expect(ids[0]).toBe(ids[1]);
    await expect
      .poll(async () => (await second.calls.listNotifications(10)).done.map(({ state, tries }) => [state, tries]), {
        timeout: PATIENCE,
      })
      .toEqual([['sent', 2]]);
  });
});

it('sends each notification once if several replicas share one PostgreSQL', async () => {
  const webhook = await useWebhook();
  const url = await postgres.createDatabase();
  const settings = settingsOf({ webhooks: [webhook.url] });
  const desks = await Promise.all([1, 2].map(() => open(createFolder(onTestFinished), settings, url)));
  await Promise.all(desks.map((desk) => desk.calls.settle()));
  const digests = Array.from({ length: 12 }, (_, index) => `B${String(index).padStart(7, '0')}`);
  for (const digest of digests) for (const desk of desks) desk.journal(createFailure({ digest }));
  await until(() => webhook.posted.length >= digests.length, 'a message each', PATIENCE);
  await Promise.all(desks.map((desk) => desk.calls.settle()));
  expect(listDigests(webhook).sort()).toEqual(digests);
  // Each replica also sees what the other has to send.
  const listDone = () => Promise.all(desks.map(async (desk) => (await desk.calls.listNotifications(50)).done));
  await expect
    .poll(async () => (await listDone()).map(({ length }) => length), { timeout: PATIENCE })
    .toEqual([12, 12]);
  expect(webhook.posted).toHaveLength(digests.length);
});
