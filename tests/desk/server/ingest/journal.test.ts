import { appendFileSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createJournal, type JournalLimits } from '../../../../src/desk/server/ingest/journal.ts';
import type { JournalEntry } from '../../../../src/desk/server/ingest/journal-entry.ts';
import type { LogPosition, SegmentFiles } from '../../../../src/desk/server/ingest/segments.ts';
import { createSignals } from '../../../../src/desk/server/ingest/signals.ts';
import { readJournal } from '../../../../src/desk/server/worker/move-journal.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { createFolder } from '../../../support/folder.ts';
import { createFailure } from '../../support/desk.ts';

const START: LogPosition = { segment: 0, offset: 0 };

function setUp(options: { limits?: Partial<JournalLimits>; files?: SegmentFiles } = {}) {
  const folder = join(createFolder(onTestFinished), 'journal', 'run');
  const signals = createSignals();
  const lines: string[] = [];
  const clock = { now: 1_700_000_000_000 };
  const journal = createJournal({
    folder,
    signals,
    log: { warn: (_fields, message) => lines.push(message), error: (_fields, message) => lines.push(message) },
    now: () => clock.now,
    ...options,
  });
  return { folder, signals, journal, lines, clock };
}

function readAll(folder: string, { live = false, from = START, maxBytes = 1024 * 1024 } = {}) {
  const entries: JournalEntry[] = [];
  let next = from;
  let skipped = 0;
  for (;;) {
    const piece = readJournal({ folder, from: next, live, maxBytes });
    if (!piece) return { entries, next, skipped };
    entries.push(...piece.entries);
    skipped += piece.skipped;
    next = piece.next;
  }
}

describe('a journal', () => {
  it('can be read only by its owner', () => {
    const { folder, journal } = setUp();
    journal.append(createFailure());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, '00000001.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('writes 20 full records per second, digest and side, then summaries, and then drops echoes', () => {
    const { folder, journal, clock } = setUp();
    const append = (wanted: Partial<Failure> = {}, times = 1) => {
      for (let index = 0; index < times; index += 1) expect(journal.append(createFailure(wanted))).toBe(true);
      return readAll(folder)
        .entries.slice(-times)
        .map(({ entry }) => entry);
    };
    const shortened = (entries: readonly string[]) => entries.filter((entry) => entry === 'summary').length;
    expect(shortened(append({ side: 'browser' }, 25))).toBe(5);
    expect(shortened(append({}, 25))).toBe(5);
    expect(append({ digest: '00000001' })).toEqual(['full']);
    clock.now += 1000;
    expect(append()).toEqual(['full']);
    const { length } = readAll(folder).entries;
    append({ digest: '00000002', side: 'browser', echoOf: '00000002-9F4W0R6B' }, 25);
    expect(readAll(folder).entries).toHaveLength(length + 20);
  });

  it('accepts nothing while too much is waiting, says so once, and works again when some of it is stored', () => {
    const { folder, signals, journal, lines, clock } = setUp({
      limits: { segmentBytes: 1000, maxBytes: 5000, fullPerSecond: 1000 },
    });
    const taken = Array.from({ length: 500 }, () => journal.append(createFailure()));
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(8000);
    expect(readAll(folder).entries).toHaveLength(taken.filter(Boolean).length);
    expect(taken.at(-1)).toBe(false);
    expect(lines).toEqual([expect.stringContaining('cannot be written')]);

    signals.position = readAll(folder, { live: true, maxBytes: 2000 }).next;
    clock.now += 1000;
    expect(journal.append(createFailure())).toBe(true);
    expect(lines).toHaveLength(2);
  });

  it('keeps half of its room for servers, whatever browsers report', () => {
    const { folder, journal, lines } = setUp({ limits: { segmentBytes: 1000, maxBytes: 20_000, fullPerSecond: 1000 } });
    const append = (side: Failure['side'], times: number) =>
      Array.from({ length: times }, () => journal.append(createFailure({ side }))).filter(Boolean).length;
    const reported = append('browser', 200);
    expect(journal.waiting).toBeLessThan(12_000);
    expect(append('browser', 5)).toBe(0);
    expect(append('server', 5)).toBe(5);
    expect(readAll(folder).entries).toHaveLength(reported + 5);
    expect(lines).toEqual([]);
  });

  it('reports failed writes, leaves no partial line, and recovers', () => {
    let room = Number.POSITIVE_INFINITY;
    const { folder, journal, lines, clock } = setUp({
      files: {
        open: (path) => openSync(path, 'ax'),
        write(file, bytes) {
          // A disk that fills up accepts part of a write.
          const taken = Math.min(room, bytes.length);
          if (taken === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          return writeSync(file, bytes, 0, taken);
        },
      },
    });
    expect(journal.append(createFailure())).toBe(true);
    for (const left of [10, 0]) {
      room = left;
      expect(journal.append(createFailure())).toBe(false);
      clock.now += 1000;
    }
    room = Number.POSITIVE_INFINITY;
    expect(journal.append(createFailure())).toBe(true);
    expect(readAll(folder)).toMatchObject({ skipped: 0, entries: { length: 2 } });
    expect(lines).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('written again')]);
  });

  it('accepts nothing after it is closed', () => {
    const { journal } = setUp();
    journal.close();
    expect(journal.append(createFailure())).toBe(false);
  });
});

describe('the journal of a dead process', () => {
  it('is read up to the line during which the process was killed', () => {
    const { folder, journal } = setUp();
    journal.append(createFailure());
    const other = ['', 'null', '[]', '{"entry":"whole"}', '{"entry":"thin","thin":{"digest":1}}', '\0\0\0'];
    appendFileSync(join(folder, '00000001.ndjson'), [...other, '{"entry":"full","failure":{"dig'].join('\n'));
    expect(readAll(folder, { live: true })).toMatchObject({ skipped: 5, entries: { length: 1 } });
    expect(readAll(folder)).toMatchObject({ skipped: 6, entries: { length: 1 }, next: { segment: 2, offset: 0 } });
  });

  it('is read in chunks of complete lines, at any chunk boundary', () => {
    const { folder, journal } = setUp({ limits: { fullPerSecond: 100 } });
    const failures = Array.from({ length: 30 }, (_, index) => createFailure({ title: `\n${'🙂'.repeat(index)}` }));
    for (const failure of failures) journal.append(failure);
    for (const maxBytes of [1, 7, 300, 100_000]) {
      const { entries } = readAll(folder, { maxBytes });
      expect(entries).toEqual(failures.map((failure) => ({ entry: 'full', failure })));
    }
  });
});
