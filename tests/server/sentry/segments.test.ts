import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Segments } from '../../../src/server/sentry/segments.ts';
import { KiB, MiB } from '../../../src/shared/units.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'segments-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (maxBytes = 64 * MiB) => new Segments(folder, maxBytes);
const filesOf = () => readdirSync(folder).filter((name) => name.endsWith('.segment'));

function readAll(segments: Segments): string[] {
  const texts: string[] = [];
  for (let entry = segments.next(); entry; entry = segments.next()) {
    texts.push(entry.body.toString());
    segments.settle(entry);
  }
  return texts;
}

it('gives back in order what was appended, also while it is being written', () => {
  const segments = open();
  segments.append(Buffer.from('one'));
  expect(segments.next()?.body.toString()).toBe('one');
  expect(segments.next()).toBeUndefined();
  segments.append(Buffer.from('two'));
  segments.append(Buffer.from('three'));
  expect(readAll(segments)).toEqual(['two', 'three']);
});

it('goes on where the one before it ended, settled or not', () => {
  const before = open();
  for (const text of ['one', 'two', 'three', 'four']) before.append(Buffer.from(text));
  const [one, two, three] = [before.next(), before.next(), before.next()];
  if (!one || !two || !three) throw new Error('Three records were appended.');
  before.settle(one);
  before.settle(three); // two is still on its way
  const after = open();
  after.append(Buffer.from('five'));
  expect(readAll(after)).toEqual(['two', 'three', 'four', 'five']);
  expect(readAll(open())).toEqual([]);
});

it('leaves no file behind once everything is settled', () => {
  const segments = open();
  for (let index = 0; index < 40; index += 1) segments.append(Buffer.alloc(100 * KiB, 1));
  expect(filesOf().length).toBeGreaterThan(3);
  expect(readAll(segments)).toHaveLength(40);
  expect(filesOf()).toEqual([]);
  expect(segments.bytes).toBe(0);
});

it('is bounded, and takes again when some have left', () => {
  const segments = open(10 * KiB);
  const body = Buffer.alloc(4 * KiB, 1);
  expect([segments.append(body), segments.append(body), segments.append(body)]).toEqual([true, true, false]);
  expect(segments.bytes).toBeLessThanOrEqual(10 * KiB);
  expect(readAll(open(10 * KiB))).toHaveLength(2);
  expect(open(10 * KiB).append(body)).toBe(true);
});

it.each([
  ['cut', (path: string) => truncateSync(path, 30)],
  ['followed by nonsense', (path: string) => appendFileSync(path, 'nonsense'.repeat(10))],
  ['followed by zeros', (path: string) => appendFileSync(path, Buffer.alloc(4 * KiB))],
])('reads up to the damage of a file that is %s, and on in the next', (_name, damage) => {
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

it('starts anew with a cursor that says nothing', () => {
  const before = open();
  before.append(Buffer.from('one'));
  readAll(before);
  writeFileSync(join(folder, 'cursor'), 'nonsense');
  expect(readAll(open())).toEqual(['one']);
});

it('survives a file that somebody removed', () => {
  const before = open();
  before.append(Buffer.from('one'));
  const after = open();
  rmSync(join(folder, filesOf()[0] ?? ''));
  after.append(Buffer.from('two'));
  expect(readAll(after)).toEqual(['two']);
});

it('loses nothing and repeats nothing that was settled in order, whenever it is opened again', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('append' as const), size: fc.integer({ min: 1, max: 300 * KiB }) }),
    fc.record({ do: fc.constantFrom('settle' as const, 'settle' as const, 'open' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const own = mkdtempSync(join(folder, 'run-'));
      let segments = new Segments(own, 64 * MiB);
      const expected: number[] = [];
      let number = 0;
      for (const taken of steps) {
        if (taken.do === 'append') {
          number += 1;
          const body = Buffer.alloc(taken.size + 4, 1);
          body.writeUInt32BE(number, 0);
          segments.append(body);
          expected.push(number);
        } else if (taken.do === 'open') {
          segments = new Segments(own, 64 * MiB);
        } else {
          const entry = segments.next();
          expect(entry?.body.readUInt32BE(0)).toBe(expected.shift());
          if (entry) segments.settle(entry);
        }
      }
      segments = new Segments(own, 64 * MiB);
      for (const wanted of expected) {
        const entry = segments.next();
        expect(entry?.body.readUInt32BE(0)).toBe(wanted);
      }
      expect(segments.next()).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});
