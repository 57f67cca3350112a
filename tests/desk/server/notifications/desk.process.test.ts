import { expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/desk/server/desk.ts';
import { createPostgresDatabase } from '../../../support/postgres.ts';
import { startMailServer, startWebhook } from '../../../support/receivers.ts';
import { until } from '../../../support/until.ts';
import { createFailure } from '../../support/desk.ts';
import { useDesk } from '../../support/use-desk.ts';

/** How long a loaded machine can take for a message that is due in five seconds (ms). */
const PATIENCE = 30_000;

interface Sent {
  readonly event: string;
  readonly incidents: readonly { readonly digest: string }[];
}

const listStates = async ({ calls }: Desk) => (await calls.listNotifications(50)).map(({ state }) => state);

it('sends each notification once to each target if two replicas share one PostgreSQL', async () => {
  const [webhook, mails] = [await startWebhook(), await startMailServer()];
  for (const receiver of [webhook, mails]) onTestFinished(() => receiver.close());
  const databaseUrl = await createPostgresDatabase();
  const mail = { smtpUrl: `smtp://127.0.0.1:${mails.port}`, from: 'desk@example.com', to: ['ada@example.com'] };
  const to = { webhooks: [webhook.url], webhookSecret: undefined, mail };
  const notify = { ...to, after: 1, deskOrigin: 'https://desk.example.com' };
  const opened = await Promise.all([1, 2].map(() => useDesk({ notify, databaseUrl })));
  const desks = opened.map(({ desk }) => desk);
  await Promise.all(desks.map((desk) => desk.calls.flush()));
  const digests = Array.from({ length: 12 }, (_, index) => `B${String(index).padStart(7, '0')}`);
  for (const digest of digests) for (const desk of desks) desk.journal(createFailure({ digest }));
  const list = () => webhook.posted.map(({ body }): Sent => JSON.parse(body));
  const listDigests = () => list().flatMap(({ incidents }) => incidents.map(({ digest }) => digest));
  await until(() => listDigests().length >= digests.length, 'all messages', PATIENCE);
  for (const desk of desks) {
    await expect.poll(() => listStates(desk), { timeout: PATIENCE }).toEqual(Array(24).fill('sent'));
  }
  expect(listDigests().sort()).toEqual(digests);

  const [digest = ''] = digests;
  const key = `${digest}@production`;
  await desks[0]?.calls.changeState(key, { state: 'resolved', in: 'now' }, { author: 'ada' });
  const [messages, letters] = [list().length, mails.mails.length];
  // Later than the change, whose time can be this millisecond.
  for (const desk of desks) desk.journal(createFailure({ digest, at: Date.now() + 1 }));
  await until(() => list().length > messages && mails.mails.length > letters, 'both', PATIENCE);
  await Promise.all(desks.map((desk) => desk.calls.flush()));
  expect(list().slice(messages)).toMatchObject([{ event: 'incident.regressed', incidents: [{ digest }] }]);
  expect(mails.mails).toHaveLength(letters + 1);
});
