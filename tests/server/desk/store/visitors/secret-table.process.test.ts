import { expect, it } from 'vitest';
import type { SqlDriver } from '../../../../../src/server/desk/store/sql.ts';
import type { Store } from '../../../../../src/server/desk/store/store.ts';
import { createSecret, NO_DAY } from '../../../../../src/server/reports/tunnel/visitors.ts';
import { Day, Hour } from '../../../../../src/shared/units.ts';
import { describeStores, ingest, retain } from '../../../../support/stores.ts';

const today = Math.floor(Date.now() / Day);

const offer = (day: number) => ({ day, salt: createSecret() });
const saltOf = (day: number, salt: string) => ({ entry: 'salt' as const, salt: { day, salt } });
const listSalts = async (store: Store, day: number) =>
  (await store.readSalts([NO_DAY, today].map(offer))).filter((one) => one.day === day).map(({ salt }) => salt);
const age = (driver: SqlDriver, days: number) =>
  driver.run('UPDATE desk_secrets SET day = CASE WHEN day = 0 THEN 0 ELSE day - ? END, at = at - ?', [
    days,
    days * Day,
  ]);
const list = async (store: Store) =>
  (await store.listSecrets()).map(({ name, day, common }) => `${name} ${day === 0 ? '' : day - today} ${common}`);

describeStores('a visitor salt', (open) => {
  it('is random, and the same for all replicas', async () => {
    const { store } = await open();
    const salts = await store.readSalts([NO_DAY, today, today + 1].map(offer));
    expect(salts.map(({ day }) => day).sort()).toEqual([NO_DAY, today, today + 1]);
    for (const { salt } of salts) expect(salt).toMatch(/^[\w-]{43}$/);
    expect(new Set(salts.map(({ salt }) => salt)).size).toBe(3);
    expect(await store.readSalts([NO_DAY, today, today + 1].map(offer))).toEqual(salts);
  });

  it('is that of a process if it is the first', async () => {
    const { store } = await open();
    await ingest(store, saltOf(today, 'mine'), saltOf(NO_DAY, 'for ids'));
    expect(await listSalts(store, today)).toEqual(['mine']);
    expect(await listSalts(store, NO_DAY)).toEqual(['for ids']);
  });

  it('of a process is kept with the common one if another was first', async () => {
    const { store } = await open();
    const [common = ''] = await listSalts(store, today);
    await ingest(store, saltOf(today, 'mine'));
    await ingest(store, saltOf(today, 'mine'));
    expect(await listSalts(store, today)).toEqual([common, 'mine']);
  });

  it('is deleted after two days, except the one for ids', async () => {
    const { store, driver } = await open();
    await store.readSalts([NO_DAY, today].map(offer));
    await ingest(store, saltOf(today, 'mine'), saltOf(NO_DAY, 'for ids'));
    await store.forgetVisitor({ visitors: ['ada'] });
    await age(driver, 1);
    await retain(store);
    expect(await list(store)).toEqual(['mark  1', 'visitor  1', 'visitor  0', 'visitor -1 1', 'visitor -1 0']);
    await age(driver, 1);
    // A new day also deletes it, without waiting for retention.
    await store.readSalts([NO_DAY, today].map(offer));
    expect(await list(store)).toEqual(['mark  1', 'visitor  1', 'visitor  0', 'visitor 0 1']);
    await age(driver, 90);
    await retain(store);
    expect(await list(store)).toEqual(['mark  1', 'visitor  1']);
  });

  it('from a clock that is wrong by months is deleted too', async () => {
    const { store } = await open();
    await ingest(store, saltOf(today + 91, 'ahead'), saltOf(today - 91, 'behind'));
    await retain(store);
    expect(await list(store)).toEqual([]);
  });

  it('of earlier releases is kept as long as their data, and never created', async () => {
    const { store, driver } = await open();
    expect(await store.readMeta()).not.toHaveProperty('salt');
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await retain(store);
    await age(driver, 90);
    await driver.run('UPDATE desk_secrets SET at = at + ?', [Hour]);
    await retain(store);
    expect(await store.readMeta()).toMatchObject({ salt: 'pepper' });
    expect(await list(store)).toEqual(['old  0']);
    await age(driver, 1);
    await retain(store);
    expect(await store.readMeta()).not.toHaveProperty('salt');
    expect(await list(store)).toEqual([]);
  });
});
