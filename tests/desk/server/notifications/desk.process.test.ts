import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/desk/server/desk.ts';
import type { NotifySettings } from '../../../../src/desk/server/notifications/settings.ts';
import { createFolder } from '../../../support/folder.ts';
import { startMailServer, startWebhook, type WebhookReceiver } from '../../../support/receivers.ts';
import { until } from '../../../support/until.ts';
import { createFailure } from '../../support/desk.ts';
import { useDesk } from '../../support/use-desk.ts';
import { usePostgres } from '../../support/use-postgres.ts';

/** How long a loaded machine can take for a message that is due in five seconds (ms). */
const PATIENCE = 30_000;
const DIGEST = '7K3QM2XA';

const postgres = usePostgres();

async function useWebhook(): Promise<WebhookReceiver> {
  const webhook = await startWebhook();
  onTestFinished(() => webhook.close());
  return webhook;
}

async function open(wanted: Partial<NotifySettings>, options: Parameters<typeof useDesk>[0] = {}): Promise<Desk> {
  const deskOrigin = 'https://desk.example.com';
  const notify = { webhooks: [], webhookSecret: undefined, mail: undefined, after: 1, deskOrigin, ...wanted };
  return (await useDesk({ notify, ...options })).desk;
}

interface Sent {
  readonly event: string;
  readonly incidents: readonly { readonly event: string; readonly digest: string }[];
}

const read = ({ posted }: WebhookReceiver) => posted.map(({ body }): Sent => JSON.parse(body));
const listDone = async ({ calls }: Desk) =>
  (await calls.listNotifications(50)).filter(({ state }) => state !== 'waiting');

describe('a desk', () => {
  it('notifies of a new incident, and when it returns after it was resolved', async () => {
    const [webhook, mails] = [await useWebhook(), await startMailServer()];
    onTestFinished(() => mails.close());
    const mail = { smtpUrl: `smtp://127.0.0.1:${mails.port}`, from: 'desk@example.com', to: ['ada@example.com'] };
    const desk = await open({ webhooks: [webhook.url], mail });
    for (let count = 0; count < 50; count += 1) desk.journal(createFailure());
    await until(() => webhook.posted.length > 0 && mails.mails.length > 0, 'both', PATIENCE);
    await desk.calls.changeState(`${DIGEST}@production`, { state: 'resolved', in: 'now' }, { author: 'ada' });
    desk.journal(createFailure({ at: Date.now() + 1 })); // later than the change, whose time can be this millisecond
    await until(() => webhook.posted.length > 1 && mails.mails.length > 1, 'both again', PATIENCE);
    await desk.calls.flush();
    expect(read(webhook).map(({ event }) => event)).toEqual(['incident.new', 'incident.regressed']);
    expect(mails.mails).toHaveLength(2);
    const states = async () => (await listDone(desk)).map(({ state }) => state);
    await expect.poll(states, { timeout: PATIENCE }).toEqual(['sent', 'sent', 'sent', 'sent']);
  });

  it('retries after a restart what failed before, and sends it once', async () => {
    const webhook = await useWebhook();
    webhook.answer = { status: 503 };
    const at = { dataDir: createFolder(onTestFinished) };
    const first = await open({ webhooks: [webhook.url] }, at);
    first.journal(createFailure());
    await until(() => webhook.posted.length === 1, 'the first try', PATIENCE);
    await first.close();
    webhook.answer = { status: 200 };
    const second = await open({ webhooks: [webhook.url] }, at);
    await until(() => webhook.posted.length === 2, 'the second try', PATIENCE);
    second.journal(createFailure());
    await second.calls.flush();
    const [one, two] = webhook.posted.map(({ headers }) => headers['x-spillway-id']);
    expect(one).toBe(two);
    const attempts = async () => (await listDone(second)).map(({ state, attempts }) => [state, attempts]);
    await expect.poll(attempts, { timeout: PATIENCE }).toEqual([['sent', 2]]);
  });
});

it('sends each notification once if several replicas share one PostgreSQL', async () => {
  const webhook = await useWebhook();
  const databaseUrl = await postgres.createDatabase();
  const desks = await Promise.all([1, 2].map(() => open({ webhooks: [webhook.url] }, { databaseUrl })));
  await Promise.all(desks.map((desk) => desk.calls.flush()));
  const digests = Array.from({ length: 12 }, (_, index) => `B${String(index).padStart(7, '0')}`);
  for (const digest of digests) for (const desk of desks) desk.journal(createFailure({ digest }));
  const sent = () => read(webhook).flatMap(({ incidents }) => incidents.map(({ digest }) => digest));
  await until(() => sent().length >= digests.length, 'all messages', PATIENCE);
  await Promise.all(desks.map((desk) => desk.calls.flush()));
  // Each replica also sees what the other has sent.
  const counts = () => Promise.all(desks.map(async (desk) => (await listDone(desk)).length));
  await expect.poll(counts, { timeout: PATIENCE }).toEqual([12, 12]);
  expect(sent().sort()).toEqual(digests);
});
