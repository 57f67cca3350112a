import { expect, it } from 'vitest';
import type { Store } from '../../../../../src/server/desk/store/store.ts';
import { Hour } from '../../../../../src/shared/units.ts';
import { describeStores, ingest, retain, thinOf, thisHour, wholeOf } from '../../../../support/stores.ts';

const ada = { author: 'ada' };

/** Reads everything about an incident except its version. */
async function tell(store: Store, digest: string) {
  const { version: _version, ...incident } = (await store.find({ digest }))?.incident ?? {};
  return {
    incident,
    hours: await store.listHours(digest),
    releases: await store.listReleases(digest),
    occurrences: await store.listOccurrences(digest, { limit: 100, withWholes: true }),
    feedback: await store.listFeedback(digest, 10),
    notes: await store.listNotes(digest, 10),
  };
}

describeStores('merged incidents', (open) => {
  async function openThree(): Promise<Store> {
    const { store } = await open();
    for (const [index, digest] of ['00000001', '00000002', '00000003'].entries()) {
      const at = thisHour - (index + 1) * Hour;
      const { failure } = wholeOf({ digest, at, release: `v${index}`, visitor: `visitor ${index}` });
      await ingest(store, wholeOf(failure), thinOf({ digest, at: at + Hour, visitor: 'the same' }));
      const said = {
        id: `${index}`.repeat(32),
        address: `${digest}-${failure.occurrence}`,
        text: `Said of ${digest}`,
        at,
      };
      await ingest(store, { entry: 'feedback', feedback: said });
      await store.addNote(digest, `Note of ${digest}`, 'ada');
    }
    return store;
  }

  it('share counts, hours, releases, occurrences, visitors, feedback and notes', async () => {
    const store = await openThree();
    expect(await store.mergeIncidents('00000002', '00000001', ada)).toMatchObject({ outcome: 'merged' });
    const { incident, hours, releases, occurrences, feedback, notes } = await tell(store, '00000001');
    expect(incident).toMatchObject({ counts: { server: 4 }, visitors: 3, aliases: ['00000002'] });
    expect(hours.map(({ server }) => server)).toEqual([1, 2, 1]);
    expect(releases.map(({ release }) => release)).toEqual(['v1', 'v0']);
    expect(occurrences.occurrences).toHaveLength(4);
    expect(feedback.map(({ text }) => text)).toEqual(['Said of 00000001', 'Said of 00000002']);
    expect(notes).toHaveLength(2);
    expect((await store.find({ digest: '00000002' }))?.incident.digest).toBe('00000001');
    expect((await store.listIncidents({ limit: 9 })).incidents.map(({ digest }) => digest).sort()).toEqual([
      '00000001',
      '00000003',
    ]);
  });

  it('are the same as before after unmerging, plus what happened since', async () => {
    const store = await openThree();
    const before = await Promise.all(['00000001', '00000002', '00000003'].map((digest) => tell(store, digest)));
    await store.mergeIncidents('00000003', '00000002', ada);
    const half = await tell(store, '00000002');
    await store.mergeIncidents('00000002', '00000001', ada);
    expect((await store.find({ digest: '00000003' }))?.incident.digest).toBe('00000001');
    expect(await store.unmerge('00000002', ada)).toMatchObject({ outcome: 'taken-apart' });
    expect(await tell(store, '00000001')).toEqual(before[0]);
    expect(await tell(store, '00000002')).toEqual(half);
    await store.unmerge('00000003', ada);
    expect(await tell(store, '00000002')).toEqual(before[1]);
    expect(await tell(store, '00000003')).toEqual(before[2]);

    await store.mergeIncidents('00000003', '00000001', ada);
    await ingest(store, thinOf({ digest: '00000003' }));
    await store.unmerge('00000003', ada);
    expect((await store.find({ digest: '00000003' }))?.incident.counts.server).toBe(3);
    expect(await tell(store, '00000001')).toEqual(before[0]);
  });

  it('cannot be merged twice, with themselves, with an unknown one, or at another version', async () => {
    const store = await openThree();
    expect(await store.mergeIncidents('00000001', '00000001', ada)).toMatchObject({ outcome: 'nothing-to-do' });
    expect(await store.mergeIncidents('00000001', '0000000Z', ada)).toEqual({ outcome: 'unknown' });
    expect(await store.unmerge('00000001', ada)).toMatchObject({ outcome: 'nothing-to-do' });
    const stale = { author: 'ada', expected: 7 };
    expect(await store.mergeIncidents('00000001', '00000002', stale)).toMatchObject({ outcome: 'conflict' });
    await store.mergeIncidents('00000001', '00000002', ada);
    // Both digests of a merged pair lead to the same incident.
    expect(await store.mergeIncidents('00000002', '00000001', ada)).toMatchObject({ outcome: 'nothing-to-do' });
    expect(await store.unmerge('00000001', stale)).toMatchObject({ outcome: 'conflict' });
    expect(await store.listChanges('00000002', 10)).toMatchObject([
      { action: 'merged', detail: { digest: '00000001' } },
    ]);
  });

  it('can be merged in both directions simultaneously without a deadlock', async () => {
    const store = await openThree();
    await Promise.all([
      store.mergeIncidents('00000001', '00000002', ada),
      store.mergeIncidents('00000002', '00000001', ada),
      ingest(store, thinOf({ digest: '00000001' }), thinOf({ digest: '00000002' })),
    ]);
    const one = await store.find({ digest: '00000001' });
    expect((await store.find({ digest: '00000002' }))?.incident).toEqual(one?.incident);
    expect(one?.incident.counts.server).toBe(6);
  });
});

describeStores('the details of an incident', (open) => {
  it('lead from one occurrence to the next, in the order of the list', async () => {
    const { store } = await open();
    const at = (time: number, digest = '00000001') => thinOf({ digest, at: thisHour + time });
    // Some happened at the same time, so their ids decide.
    const seen = [at(1), at(2), at(2), at(2), at(3, '00000002'), at(4)];
    const { failure } = wholeOf({ digest: '00000002', at: thisHour + 1000 });
    await ingest(store, ...seen, wholeOf(failure));
    await store.mergeIncidents('00000002', '00000001', ada);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.listOccurrences('00000001', { limit: 2, ...(cursor !== undefined && { cursor }) });
      listed.push(...page.occurrences.map(({ occurrence }) => occurrence));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(new Set(listed).size).toBe(7);
    expect(listed[0]).toBe(failure.occurrence);

    const back: string[] = [];
    for (let next: string | undefined = listed.at(-1); next !== undefined; ) {
      back.push(next);
      next = (await store.findNeighbours('00000001', next)).newer?.occurrence;
    }
    expect(back).toEqual(listed.toReversed());
    const { older, newer, nearestWhole } = await store.findNeighbours('00000001', listed[3] ?? '');
    expect([older?.occurrence, newer?.occurrence, nearestWhole?.occurrence]).toEqual([
      listed[4],
      listed[2],
      failure.occurrence,
    ]);
  });

  it('show the nearest full occurrence for one that was sampled out', async () => {
    const { store } = await open();
    const wholes = [0, 10, 20].map((minutes) => wholeOf({ at: thisHour + minutes * 1000 }));
    const [first, second, third] = wholes.map(({ failure }) => failure.occurrence);
    const near = (time: number) => thinOf({ at: thisHour + time });
    const [early, late] = [near(4000), near(16_000)];
    await ingest(store, ...wholes, early, late);
    const nearest = async (occurrence = '') =>
      (await store.findNeighbours('7K3QM2XA', occurrence)).nearestWhole?.occurrence;
    expect(await nearest(early.thin.occurrence)).toBe(first);
    expect(await nearest(late.thin.occurrence)).toBe(third);
    expect(await nearest(second)).toBe(second);
    expect(await nearest('00000000')).toBe(third);
    expect(await store.findNeighbours('00000000', '00000000')).toEqual({});
  });

  it('name incidents in the same file or with a similar message', async () => {
    const { store } = await open();
    const site = (path: string) => ({ path, function: 'f', detail: '' });
    const errors = (message: string) => [{ class: 'TypeError', message, frames: [] }];
    await ingest(
      store,
      wholeOf({ digest: '00000001', site: site('src/cart.ts'), errors: errors('Order 12 is gone') }),
      wholeOf({ digest: '00000002', site: site('src/cart.ts'), errors: errors('Other words') }),
      wholeOf({ digest: '00000003', site: site('src/other.ts'), errors: errors('Order 777 is gone') }),
      wholeOf({ digest: '00000004', site: site('src/third.ts'), errors: errors('No relation') }),
    );
    const similar = async () => (await store.listSimilar('00000001', 10)).map(({ digest }) => digest).sort();
    expect(await similar()).toEqual(['00000002', '00000003']);
    await store.mergeIncidents('00000003', '00000001', ada);
    expect(await similar()).toEqual(['00000002']);
  });

  it('contain the feedback of the incident, its echoes and bare addresses, up to 4 KiB, until it is deleted', async () => {
    const { store } = await open();
    const { failure } = wholeOf();
    const address = `${failure.digest}-${failure.occurrence}`;
    const { failure: echo } = wholeOf({ side: 'browser', echoOf: address });
    const { failure: other } = wholeOf({ digest: '00000002' });
    await ingest(store, wholeOf(failure), wholeOf(echo), wholeOf(other));
    const say = (id: string, about: object) =>
      ingest(store, { entry: 'feedback', feedback: { id: id.repeat(32), text: id.repeat(5000), at: 1, ...about } });
    await say('a', { address, at: 4 });
    await say('b', { address: `${echo.digest}-${echo.occurrence}`, at: 3 });
    await say('c', { address: '7K3QM2XA', at: 2 });
    await say('d', { address: `${other.digest}-${other.occurrence}` });
    await say('e', {});
    const said = await store.listFeedback('7K3QM2XA', 10);
    expect(said.map(({ text }) => text)).toEqual(['a', 'b', 'c'].map((letter) => letter.repeat(4096)));
    expect(said[2]?.address).toBe('7K3QM2XA');
    expect(await store.deleteFeedback('7K3QM2XA', 'b'.repeat(32), 'ada')).toBe(true);
    expect(await store.deleteFeedback('7K3QM2XA', 'b'.repeat(32), 'ada')).toBe(false);
    expect(await store.listFeedback('7K3QM2XA', 10)).toHaveLength(2);
    expect(await store.listChanges('7K3QM2XA', 10)).toMatchObject([{ author: 'ada', action: 'feedback-deleted' }]);
  });
});

describeStores('deletion', (open) => {
  it('of an incident removes all its data, merged incidents included, and it can start over', async () => {
    const { store, driver } = await open();
    const { failure } = wholeOf({ digest: '00000001', visitor: 'v' });
    const feedback = { id: 'a'.repeat(32), eventId: failure.id, text: 'x', at: 1 };
    await ingest(store, wholeOf(failure), wholeOf({ digest: '00000002' }), { entry: 'feedback', feedback });
    await store.addNote('00000001', 'x', 'ada');
    await store.mergeIncidents('00000001', '00000002', ada);
    await ingest(store, wholeOf({ digest: '00000003' }));
    expect(await store.deleteIncident('00000001', { author: 'ada', expected: 0 })).toMatchObject({
      outcome: 'conflict',
      incident: { version: 1 },
    });
    expect(await store.deleteIncident('00000001', { author: 'ada', expected: 1 })).toEqual({ outcome: 'deleted' });
    expect(await store.deleteIncident('00000001', { author: 'ada' })).toEqual({ outcome: 'unknown' });
    expect(await store.find({ digest: '00000001' })).toBeUndefined();
    const tables = [
      'hours',
      'releases',
      'occurrences',
      'wholes',
      'dictionaries',
      'visitors',
      'changes',
      'notes',
      'search',
      'incidents',
    ];
    for (const table of tables) {
      const recorded = table === 'changes' ? " WHERE action <> 'deleted'" : '';
      const rows = await driver.all<{ digest: string }>(`SELECT digest FROM desk_${table}${recorded}`);
      expect([table, rows.filter((row) => row.digest !== '00000003')]).toEqual([table, []]);
    }
    for (const table of ['aliases', 'feedback']) expect(await driver.all(`SELECT 1 FROM desk_${table}`)).toEqual([]);
    await ingest(store, wholeOf({ digest: '00000001' }));
    expect((await store.find({ digest: '00000001' }))?.incident).toMatchObject({ counts: { server: 1 }, version: 0 });
  });

  it('of one occurrence removes its row, full record and feedback, but still counts it', async () => {
    const { store } = await open();
    const { failure } = wholeOf();
    const { digest, occurrence } = failure;
    const feedback = { id: 'a'.repeat(32), eventId: failure.id, text: 'x', at: 1 };
    await ingest(store, wholeOf(failure), wholeOf(), { entry: 'feedback', feedback });
    expect(await store.deleteOccurrence(digest, occurrence, 'ada')).toBe(true);
    expect(await store.deleteOccurrence(digest, occurrence, 'ada')).toBe(false);
    expect(await store.find({ digest, occurrence })).toMatchObject({
      state: 'unknown',
      incident: { counts: { server: 2 } },
    });
    expect(await store.listFeedback(digest, 10)).toEqual([]);
    expect(await store.listChanges(digest, 5)).toMatchObject([
      { action: 'occurrence-deleted', detail: { occurrence } },
    ]);
  });

  it('of a visitor removes their occurrences and feedback, but not the counts', async () => {
    const { store, driver } = await open();
    const mine = wholeOf({ visitor: 'me' });
    const say = (id: string, wanted: object) =>
      ingest(store, { entry: 'feedback', feedback: { id: id.repeat(32), text: id, at: 1, ...wanted } });
    await ingest(store, mine, thinOf({ visitor: 'me yesterday' }), wholeOf({ visitor: 'other' }));
    await say('a', { visitor: 'me' });
    await say('b', { email: 'Me@Example.com' });
    await say('c', { visitor: 'other', email: 'other@example.com' });
    const gone = await store.forgetVisitor({ visitors: ['me', 'me yesterday'], email: 'me@example.com' });
    expect(gone).toMatchObject({ occurrences: 2, feedback: 2 });
    expect(await driver.all('SELECT visitor FROM desk_occurrences')).toEqual([{ visitor: 'other' }]);
    expect(await driver.all('SELECT digest FROM desk_wholes')).toHaveLength(1);
    expect(await driver.all('SELECT id FROM desk_feedback')).toEqual([{ id: 'c'.repeat(32) }]);
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(3);
    expect(await store.forgetVisitor({})).toMatchObject({ occurrences: 0, feedback: 0 });
  });

  it('is recorded with author and time', async () => {
    const { store } = await open();
    await ingest(store, wholeOf(), wholeOf({ digest: '00000002' }));
    await store.mergeIncidents('00000002', '7K3QM2XA', { author: 'ada' });
    const before = Date.now() - 1000;
    await store.deleteIncident('7K3QM2XA', { author: 'grace' });
    for (const digest of ['7K3QM2XA', '00000002']) {
      const deletion = await store.readDeletion(digest);
      expect(deletion?.author).toBe('grace');
      expect(deletion?.at).toBeGreaterThan(before);
    }
    // If it happens again it is a new incident, whose log mentions the deleted one.
    await ingest(store, wholeOf());
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(1);
    expect(await store.listChanges('7K3QM2XA', 9)).toMatchObject([
      { author: 'grace', action: 'deleted', detail: { count: 2 } },
    ]);
    await retain(store);
    expect(await store.readDeletion('00000002')).toBeDefined();
  });
});
