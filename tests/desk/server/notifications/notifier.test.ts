import { expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../../src/desk/server/notifications/message.ts';
import { createNotifier } from '../../../../src/desk/server/notifications/notifier.ts';
import type { SendResult } from '../../../../src/desk/server/store/notification-table.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest, useMemoryStore } from '../../support/stores.ts';

it('a slow target does not delay the others and is waited for, and a failing one is logged once, without the message', async () => {
  const { log, lines } = createTestLog();
  const answer = Promise.withResolvers<SendResult>();
  const sent: string[] = [];
  const toTarget = (id: string, result: SendResult | Promise<SendResult>) => ({
    ...{ id, name: `Webhook ${id}` },
    send: async ({ items: [item] }: Message) => {
      sent.push(`${id} ${item?.incident.digest}`);
      return result;
    },
  });
  const failed = { ok: false, words: 'It answered 500.', isFinal: true };
  const targets = [toTarget('slow', answer.promise), toTarget('failing', failed)];
  const { store } = await useMemoryStore({ rules: { after: 1, targets } });
  const facts = { environment: 'production', deskOrigin: 'https://desk.example.com' };
  const notifier = createNotifier({ targets, facts, withStore: (work) => work(store), log });
  onTestFinished(() => notifier.stop());
  for (const digest of ['00000001', '00000002']) {
    await ingest(store, fullOf({ digest }));
    notifier.wake();
    await until(() => sent.includes(`failing ${digest}`), 'the message');
  }
  const stopped = notifier.stop();
  answer.resolve({ ok: true, words: 'It answered 200.' });
  await stopped;
  expect(sent.sort()).toEqual(['failing 00000001', 'failing 00000002', 'slow 00000001']); // it starts no new one
  const states = (await store.notifications.listNotifications(9)).map(({ state }) => state);
  expect(states.sort()).toEqual(['failed', 'failed', 'sent', 'waiting']);
  expect(lines).toMatchObject([{ level: 'warn', fields: { target: 'Webhook failing', result: failed.words } }]);
  expect(JSON.stringify(lines)).not.toContain('boom');
});
