import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDiskQueue, type DiskQueue } from '../../../src/server/sentry/disk-queue.ts';
import { KiB, MiB } from '../../../src/shared/units.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'queue-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (maxBytes = 64 * MiB) => createDiskQueue(folder, maxBytes);
const filesOf = () => readdirSync(folder).filter((name) => name.endsWith('.segment'));

function readAll(queue: DiskQueue): string[] {
  const texts: string[] = [];
  for (let entry = queue.next(); entry; entry = queue.next()) {
    texts.push(entry.body.toString());
    queue.settle(entry);
  }
  return texts;
}

it('returns entries in order, also while more are appended', () => {
  const queue = open();
  queue.append(Buffer.from('one'));
  const one = queue.next();
  expect(one?.body.toString()).toBe('one');
  expect(queue.next()).toBeUndefined();
  queue.append(Buffer.from('two'));
  if (one) queue.settle(one);
  queue.append(Buffer.from('three'));
  expect(readAll(queue)).toEqual(['two', 'three']);
});

it('continues with the unsettled entries of an earlier process', () => {
  const before = open();
  for (const text of ['one', 'two', 'three', 'four']) before.append(Buffer.from(text));
  const [one, two, three] = [before.next(), before.next(), before.next()];
  if (!one || !two || !three) throw new Error('Three records were appended.');
  before.settle(one);
  before.settle(three); // two is not settled yet
  const after = open();
  after.append(Buffer.from('five'));
  expect(readAll(after)).toEqual(['two', 'three', 'four', 'five']);
  expect(readAll(open())).toEqual([]);
});

it('deletes its files once everything is settled', () => {
  const queue = open();
  for (let index = 0; index < 40; index += 1) queue.append(Buffer.alloc(100 * KiB, 1));
  expect(filesOf().length).toBeGreaterThan(3);
  expect(readAll(queue)).toHaveLength(40);
  expect(filesOf()).toEqual([]);
  expect(queue.bytes).toBe(0);
});

it('has a size limit, and accepts entries again when there is room', () => {
  const queue = open(10 * KiB);
  const body = Buffer.alloc(4 * KiB, 1);
  expect([queue.append(body), queue.append(body), queue.append(body)]).toEqual([true, true, false]);
  expect(queue.bytes).toBeLessThanOrEqual(10 * KiB);
  expect(readAll(open(10 * KiB))).toHaveLength(2);
  expect(open(10 * KiB).append(body)).toBe(true);
});

it.each([
  ['cut', (path: string) => truncateSync(path, 30)],
  ['followed by garbage', (path: string) => appendFileSync(path, 'nonsense'.repeat(10))],
  ['followed by zeros', (path: string) => appendFileSync(path, Buffer.alloc(4 * KiB))],
])('reads a file that is %s up to the damage, then the next file', (_name, damage) => {
  const before = open();
  before.append(Buffer.from('whole'));
  before.append(Buffer.from('x'.repeat(30)));
  damage(join(folder, filesOf()[0] ?? ''));
  const after = open();
  after.append(Buffer.from('later'));
  const texts = readAll(after);
  expect(texts[0]).toBe('whole');
  expect(texts.at(-1)).toBe('later');
  expect(readAll(open())).toEqual([]);
});

it('starts over if the cursor file is invalid', () => {
  const before = open();
  for (const text of ['one', 'two']) before.append(Buffer.from(text));
  const one = before.next();
  if (one) before.settle(one);
  writeFileSync(join(folder, 'cursor'), 'nonsense');
  expect(readAll(open())).toEqual(['one', 'two']);
});

it('continues a queue from an earlier release, with its cursor and a torn tail', () => {
  const record = (text: string) => {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(text.length, 0);
    header.writeUInt32BE(crc32(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const cursor = Buffer.alloc(20);
  cursor.writeBigUInt64BE(3n, 0);
  cursor.writeBigUInt64BE(11n, 8);
  cursor.writeUInt32BE(crc32(cursor.subarray(0, 16)), 16);
  writeFileSync(join(folder, 'cursor'), cursor);
  writeFileSync(join(folder, '000000000002.segment'), record('sent long ago'));
  const torn = record('torn').subarray(0, 10);
  writeFileSync(join(folder, '000000000003.segment'), Buffer.concat([record('one'), record('two'), torn]));
  writeFileSync(join(folder, '000000000004.segment'), record('three'));
  expect(readAll(open())).toEqual(['two', 'three']);
  expect(filesOf()).toEqual([]);
});

it('continues if a file was deleted', () => {
  const before = open();
  before.append(Buffer.from('one'));
  const after = open();
  rmSync(join(folder, filesOf()[0] ?? ''));
  after.append(Buffer.from('two'));
  expect(readAll(after)).toEqual(['two']);
});

it('loses nothing and repeats nothing that was settled in order, whenever it is reopened', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('append' as const), size: fc.integer({ min: 1, max: 300 * KiB }) }),
    fc.record({ do: fc.constantFrom('settle' as const, 'settle' as const, 'open' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const own = mkdtempSync(join(folder, 'run-'));
      let queue = createDiskQueue(own, 64 * MiB);
      const expected: number[] = [];
      let number = 0;
      for (const taken of steps) {
        if (taken.do === 'append') {
          number += 1;
          const body = Buffer.alloc(taken.size + 4, 1);
          body.writeUInt32BE(number, 0);
          queue.append(body);
          expected.push(number);
        } else if (taken.do === 'open') {
          queue = createDiskQueue(own, 64 * MiB);
        } else {
          const entry = queue.next();
          expect(entry?.body.readUInt32BE(0)).toBe(expected.shift());
          if (entry) queue.settle(entry);
        }
      }
      queue = createDiskQueue(own, 64 * MiB);
      for (const wanted of expected) {
        const entry = queue.next();
        expect(entry?.body.readUInt32BE(0)).toBe(wanted);
        if (entry) queue.settle(entry);
      }
      expect(queue.next()).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});
