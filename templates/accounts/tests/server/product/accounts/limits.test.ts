import { expect, it } from 'vitest';
import { createMemoryStore } from '#engine/server';
import { createLimits } from '#product-server/accounts/limits.ts';

const ADA = 'ada@example.com';

it('limits a sender, and does not lock the owner of an account out', async () => {
  const counts = createMemoryStore();
  const [stranger, owner] = [createLimits(counts, '192.0.2.1'), createLimits(counts, '198.51.100.7')];
  for (let index = 1; index <= 10; index += 1) await stranger.signIn(ADA);
  await expect(stranger.signIn(ADA)).rejects.toMatchObject({ status: 429 });
  for (let index = 12; index <= 50; index += 1) await stranger.signIn(`${index}@example.com`);
  await expect(stranger.signIn('51@example.com')).rejects.toMatchObject({ status: 429 });
  for (let index = 1; index <= 5; index += 1) await stranger.mail(ADA);
  await expect(stranger.mail(ADA)).rejects.toMatchObject({ status: 429 });
  await owner.signIn(ADA);
  expect(await owner.mail(ADA)).toBe(true);
});

it('sends at most 10 mails an hour to an address, from all senders together', async () => {
  const counts = createMemoryStore();
  const ask = (index: number) => createLimits(counts, `192.0.2.${index}`).mail(ADA);
  for (let index = 1; index <= 10; index += 1) expect(await ask(index)).toBe(true);
  expect(await ask(11)).toBe(false);
});
