import { expect, it } from 'vitest';
import { Hour, Minute } from '../../../../src/shared/units.ts';
import { describeStores, retain } from '../../../support/stores.ts';

const ada = { name: 'ada', role: 'operator', fingerprint: 'f1' } as const;
const bob = { name: 'bob', role: 'viewer', fingerprint: 'f2' } as const;

describeStores('sessions', (open) => {
  it('are valid until they end or expire', async () => {
    const { store, driver } = await open();
    const before = Date.now() - Minute;
    await store.createSession('hash 1', ada, 12 * Hour);
    await store.createSession('hash 2', bob, 12 * Hour);
    const session = await store.readSession('hash 1');
    expect(session).toMatchObject(ada);
    expect(session?.createdAt).toBeGreaterThan(before);
    expect((session?.expiresAt ?? 0) - (session?.createdAt ?? 0)).toBe(12 * Hour);
    expect(await store.readSession('hash 3')).toBeUndefined();
    expect(await store.endSession('hash 1')).toBe(true);
    expect(await store.endSession('hash 1')).toBe(false);
    expect(await store.readSession('hash 1')).toBeUndefined();
    await driver.run('UPDATE desk_sessions SET expires_at = expires_at - ?', [12 * Hour + Minute]);
    expect(await store.readSession('hash 2')).toBeUndefined();
    await retain(store);
    expect(await driver.all('SELECT 1 FROM desk_sessions')).toEqual([]);
  });

  it('end with their token, and so do its links', async () => {
    const { store } = await open();
    await store.createSession('hash 1', ada, Hour);
    await store.createSession('hash 2', bob, Hour);
    await store.createLink('link 1', ada);
    await store.createLink('link 2', bob);
    expect(await store.keepSessions(['f2', 'f3'])).toBe(2);
    expect(await store.readSession('hash 1')).toBeUndefined();
    expect(await store.readSession('hash 2')).toMatchObject(bob);
    expect(await store.takeLink('link 1')).toBeUndefined();
    expect(await store.keepSessions([])).toBe(2);
  });

  it('are created once per link, within 15 minutes', async () => {
    const { store, driver } = await open();
    await store.createLink('link 1', ada);
    const taken = await Promise.all([store.takeLink('link 1'), store.takeLink('link 1')]);
    expect(taken.filter((grant) => grant !== undefined)).toEqual([ada]);
    await store.createLink('link 2', ada);
    await driver.run('UPDATE desk_links SET expires_at = expires_at - ?', [15 * Minute]);
    expect(await store.takeLink('link 2')).toBeUndefined();
  });
});
