import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { Minute } from '../../../../../src/shared/units.ts';
import { describeStores, ingest, retain, thinOf, wholeOf } from '../../../../support/stores.ts';

const digest = '00000001';
const id = 'a'.repeat(32);

describeStores('a forgotten visitor', (open) => {
  it('is not stored from journals that arrive later, but still counted', async () => {
    const { store } = await open();
    await ingest(store, wholeOf({ digest, visitor: 'ada' }), wholeOf({ digest, visitor: 'grace' }));
    expect(await store.forgetVisitor({ visitors: ['ada'] })).toMatchObject({ occurrences: 1, feedback: 0 });

    const said = { id, text: 'Said.', at: Date.now(), visitor: 'ada' };
    await ingest(
      store,
      wholeOf({ digest, visitor: 'ada' }),
      thinOf({ digest, visitor: 'ada' }),
      wholeOf({ digest, visitor: 'grace' }),
      { entry: 'feedback', feedback: said },
    );
    const { occurrences } = await store.listOccurrences(digest, { limit: 9, withWholes: true });
    expect(occurrences.map(({ visitor }) => visitor)).toEqual(['grace', 'grace']);
    expect((await store.find({ digest }))?.incident.counts.server).toBe(5);
    expect(await store.listFeedback(digest, 9)).toEqual([]);
  });

  it('creates an incident with a kind but no message if they are the first to see it', async () => {
    const { store } = await open();
    await store.forgetVisitor({ visitors: ['ada'] });
    await ingest(store, wholeOf({ digest, visitor: 'ada', kind: 'load', title: 'load /x.js' }));
    expect((await store.find({ digest }))?.incident).toMatchObject({
      kind: 'load',
      counts: { server: 1 },
      message: '',
    });
  });

  it("leaves an incident's kind and place until another visitor's full record adds the rest", async () => {
    const { store } = await open();
    const site = { path: 'src/cart.ts', function: 'load', detail: 'words of ada' };
    const named = { digest, kind: 'load' as const, title: 'load /of/ada.js', errors: [], site };
    await ingest(store, wholeOf({ ...named, visitor: 'ada' }));
    await store.forgetVisitor({ visitors: ['ada'] });
    const kept = { kind: 'load', title: 'load', message: '', site: { ...site, detail: '' } };
    expect((await store.find({ digest }))?.incident).toMatchObject(kept);
    await ingest(store, thinOf({ digest, visitor: 'grace' }));
    expect((await store.find({ digest }))?.incident).toMatchObject({ ...kept, counts: { server: 2 } });
    await ingest(store, wholeOf({ ...named, visitor: 'grace', title: 'load /of/grace.js' }));
    expect((await store.find({ digest }))?.incident).toMatchObject({ title: 'load /of/grace.js', site });
  });

  it('is stored again on a later visit', async () => {
    const { store } = await open();
    await store.forgetVisitor({ visitors: ['ada'] });
    await ingest(store, wholeOf({ digest, visitor: 'ada', at: Date.now() + 5 * Minute }));
    expect((await store.listOccurrences(digest, { limit: 9 })).occurrences).toHaveLength(1);
  });

  it('can be named by an email address, which is not stored', async () => {
    const { store, driver } = await open();
    await store.forgetVisitor({ visitors: ['the hash of ada'], email: 'Ada@Example.com' });
    await ingest(store, wholeOf({ digest }));
    const said = (email: string, of: string) => ({
      entry: 'feedback' as const,
      feedback: { id: of.repeat(32), address: digest, text: 'Said.', at: Date.now(), email },
    });
    await ingest(store, said('ada@example.com', 'a'), said('grace@example.com', 'b'));
    expect((await store.listFeedback(digest, 9)).map(({ email }) => email)).toEqual(['grace@example.com']);
    const marks = await driver.all<{ mark: string }>('SELECT mark FROM desk_forgotten');
    expect(marks).toHaveLength(2);
    // Random letters can contain a short name.
    expect(JSON.stringify(marks)).not.toMatch(/hash of|example/i);
  });

  it('can have been forgotten by an earlier release, which wrote another kind of mark', async () => {
    const { store, driver } = await open();
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await retain(store);
    const mark = `e-${createHmac('sha256', 'pepper').update('ada@example.com').digest('base64url')}`;
    await driver.run('INSERT INTO desk_forgotten (mark, at) VALUES (?, ?), (?, ?)', [
      'ada',
      Date.now(),
      mark,
      Date.now(),
    ]);
    const feedback = { id, address: digest, text: 'Said.', at: Date.now(), email: 'Ada@Example.com' };
    await ingest(store, wholeOf({ digest, visitor: 'ada' }), wholeOf({ digest }), { entry: 'feedback', feedback });
    expect((await store.listOccurrences(digest, { limit: 9 })).occurrences).toHaveLength(1);
    expect(await store.listFeedback(digest, 9)).toEqual([]);
  });

  it('is remembered as long as any data from before can be kept', async () => {
    const { store, driver } = await open();
    await store.forgetVisitor({ visitors: ['ada'] });
    await retain(store);
    expect(await driver.all('SELECT mark FROM desk_forgotten')).toHaveLength(1);
    await driver.run('UPDATE desk_forgotten SET at = at - ?', [91 * 24 * 60 * Minute]);
    await retain(store);
    expect(await driver.all('SELECT mark FROM desk_forgotten')).toEqual([]);
  });
});
