import { expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../../src/desk/server/notifications/message.ts';
import { createNotifier } from '../../../../src/desk/server/notifications/notifier.ts';
import type { SendResult } from '../../../../src/desk/server/store/notification-table.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest, useMemoryStore } from '../../support/stores.ts';

const OK = { ok: true, words: 'It answered 200.' } as const;
const NO = { ok: false, words: 'It answered 500.' } as const;

async function start(names: readonly string[] = ['hook']) {
  const { log, lines } = createTestLog();
  const targets = names.map((id) => {
    const sent: Message[] = [];
    const target = {
      ...{ id, name: `Webhook ${id}`, sent, answer: (): SendResult | Promise<SendResult> => OK },
      send: async (message: Message) => {
        sent.push(message);
        return target.answer();
      },
    };
    return target;
  });
  const [first] = targets;
  if (!first) throw new Error('Name a target.');
  const { store } = await useMemoryStore({ rules: { after: 1, targets } });
  const notifier = createNotifier({
    targets,
    facts: { environment: 'production', deskOrigin: 'https://desk.example.com' },
    withStore: (work) => work(store),
    log,
  });
  onTestFinished(() => notifier.stop());
  const listDone = async () =>
    (await store.notifications.listNotifications(50)).filter(({ state }) => state !== 'waiting');
  return { store, notifier, lines, targets, first, listDone };
}

it('does not let a slow target delay the others, and waits for it when it is stopped', async () => {
  const { store, notifier, targets, listDone } = await start(['slow', 'quick']);
  const [slow, quick] = targets;
  const answer = Promise.withResolvers<SendResult>();
  if (slow) slow.answer = () => answer.promise;
  const isDone = async (count: number) => {
    notifier.wake();
    await until(() => quick?.sent.length === count, 'the quick message');
  };
  await ingest(store, fullOf());
  await isDone(1);
  await ingest(store, fullOf({ digest: '00000002' }));
  await isDone(2);
  const stopped = notifier.stop();
  answer.resolve(OK);
  await stopped;
  expect(slow?.sent).toHaveLength(1); // it starts no new one
  expect((await listDone()).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent']);
});

it('logs a failing target once, without the message, until it accepts something again', async () => {
  const { store, notifier, first, lines } = await start();
  first.answer = () => ({ ...NO, isFinal: true });
  for (const [index, digest] of ['00000001', '00000002'].entries()) {
    await ingest(store, fullOf({ digest }));
    notifier.wake();
    await until(() => first.sent.length === index + 1, 'the message');
  }
  await notifier.stop();
  expect(lines).toMatchObject([{ level: 'warn', fields: { target: 'Webhook hook', result: NO.words } }]);
  expect(JSON.stringify(lines)).not.toContain('boom');
});
