import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../../src/desk/server/store/sqlite.ts';
import { openStore } from '../../../../src/desk/server/store/store.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { fullOf, ingest, retain } from '../../support/stores.ts';

async function open(path = join(createFolder(onTestFinished), 'desk.sqlite')) {
  const { log, lines } = createTestLog();
  const driver = openSqlite(path, { log });
  const store = await openStore(driver, { environment: 'production' });
  onTestFinished(() => store.close());
  return { store, driver, path, lines };
}

describe('the database file', () => {
  it.each<[what: string, spoil: (path: string) => void]>([
    ['is not a database', (path) => writeFileSync(path, 'A'.repeat(8192))],
    ['was partly overwritten', (path) => writeFileSync(path, readFileSync(path).fill(0xff, 4096, 8192))],
    ['was truncated', (path) => writeFileSync(path, readFileSync(path).subarray(0, 5000))],
  ])('is set aside and replaced if it %s', async (_name, spoil) => {
    const { path, store: first } = await open();
    await ingest(first, ...Array.from({ length: 50 }, () => fullOf()));
    await first.close();
    spoil(path);

    const { store, lines } = await open(path);
    await ingest(store, fullOf());
    expect((await store.finder.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(1);
    expect(readdirSync(join(path, '..')).some((name) => name.startsWith('desk.sqlite.corrupt-'))).toBe(true);
    expect(lines).toMatchObject([{ level: 'error', message: expect.stringContaining('was corrupt') }]);
  });

  it('can be read only by its owner, together with the files next to it', async () => {
    const { store, path } = await open();
    await store.check();
    const folder = join(path, '..');
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  it('shrinks after deletions', async () => {
    const { store, path } = await open();
    const noise = () => Array.from({ length: 400 }, () => Math.random().toString(36)).join('');
    const digests = Array.from({ length: 400 }, (_, index) => String(index).padStart(8, '0'));
    await ingest(store, ...digests.map((digest) => fullOf({ digest, extra: { noise: noise() } })));
    const checkpoint = () => {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
      return statSync(path).size;
    };
    const before = checkpoint();
    await retain(store, { maxBytes: before / 4 });
    expect(checkpoint()).toBeLessThan(before / 2);
  });

  describe('keeps nothing of what is deleted', () => {
    const KEY = '7K3QM2XA@production';
    const WORD = 'qzanarywordq';

    async function openWithWord() {
      const { store, path } = await open();
      const one = fullOf({ title: WORD, visitor: 'ada' });
      await ingest(store, one);
      const note = await store.history.addNote(KEY, WORD, 'ada');
      const files = () => readdirSync(join(path, '..')).map((name) => readFileSync(join(path, '..', name), 'latin1'));
      return { store, path, one, note, count: () => files().join().split(WORD).length - 1 };
    }

    it('at once', async () => {
      const { store, one, note, count } = await openWithWord();
      expect(count()).toBeGreaterThan(0);
      await store.changes.deleteOccurrence(KEY, one.occurrence, 'ada');
      const ofNote = count();
      await store.history.deleteNote(note?.id ?? 0, 'ada');
      expect(ofNote).toBe(1);
      expect(count()).toBe(0);
      await ingest(store, fullOf({ title: WORD }));
      await store.changes.deleteIncident(KEY, { author: 'ada' });
      expect(count()).toBe(0);
    });

    it('when the next old rows are deleted, if another program was reading', async () => {
      const { store, path, count } = await openWithWord();
      const other = new DatabaseSync(path);
      other.exec('BEGIN; SELECT * FROM desk_meta');
      await store.visitors.forgetVisitor('ada');
      await store.changes.deleteIncident(KEY, { author: 'ada' });
      expect(count()).toBeGreaterThan(0);
      other.exec('COMMIT');
      await retain(store);
      expect(count()).toBe(0);
      other.close();
    });
  });
});
