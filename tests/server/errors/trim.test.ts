import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { cutText, trimFailure } from '../../../src/server/errors/trim.ts';
import { MAX_EVENT_BYTES } from '../../../src/server/limits.ts';

const failure: Failure = {
  ...{ id: '0123456789abcdef0123456789abcdef', digest: '7K3QM2XA', occurrence: '9F4W0R6B', release: 'v1' },
  ...{ kind: 'exception', side: 'server', origin: 'loader', at: 1_795_000_000_000, build: 'a29092e775f1' },
  errors: [
    { class: 'TypeError', message: 'boom', frames: [{ file: 'server/main.js', line: 1, column: 2, function: 'f' }] },
  ],
  title: 'TypeError: boom',
};
const { id, digest, occurrence, at } = failure;

const long = 'x'.repeat(1000);
const nul = '\0'.repeat(300);
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));
const wide = (count: number, value: string) => Object.fromEntries(times(count, (key) => [`k${key}`, value]));
const breadcrumb = (number: number) => ({ at: number, category: 'log', message: 'm' });
const frame = (line: number) => ({ file: `client/assets/${'x'.repeat(100)}.js`, line, column: 1, function: 'f' });

const breadcrumbs = times(1, breadcrumb);
const fullCrumbs = times(100, (index) => ({ ...breadcrumb(index), data: wide(12, 'x'.repeat(240)) }));
const frames = times(100, frame);
const tenErrors = (list: typeof frames) => times(10, () => ({ class: 'E', message: 'm', frames: list }));

it.each<[string, Partial<Failure>, Partial<Failure>]>([
  [
    'of a failure that is too large, the first levels of additional data',
    {
      extra: { note: 'kept', deep: { a: { b: { c: wide(1000, 'x'.repeat(200)) } } } },
      breadcrumbs,
    },
    { extra: { note: 'kept', deep: { a: { b: '[cut]' } } }, breadcrumbs, cut: ['extra'] },
  ],
  [
    'then newer breadcrumbs',
    { breadcrumbs: fullCrumbs, extra: { note: 'kept' } },
    { breadcrumbs: fullCrumbs.slice(-25), extra: { note: 'kept' }, cut: ['breadcrumbs'] },
  ],
  [
    'then only frames',
    { errors: tenErrors(frames), extra: wide(1000, long), breadcrumbs },
    { errors: tenErrors(frames.slice(0, 50)), cut: ['values', 'extra', 'breadcrumbs', 'frames'] },
  ],
  [
    'finally, a stub',
    {
      ...{ title: nul, build: nul, release: nul, route: nul, request: { method: nul, url: nul } },
      errors: times(12, () => ({
        ...{ class: nul, message: nul, members: times(500, () => nul) },
        frames: times(200, () => ({ file: nul, line: 1, column: 1, function: nul })),
      })),
    },
    { id, digest, occurrence, at, errors: [{ class: cutText(nul), message: cutText(nul), frames: [] }] },
  ],
])('keeps %s', (_name, given, kept) => {
  const { cut = [], ...trimmed } = trimFailure({ ...failure, ...given });
  const { cut: parts = [], ...expected } = kept;
  expect(trimmed).toEqual('id' in kept ? expect.objectContaining(expected) : { ...failure, ...expected });
  expect(cut).toEqual(expect.arrayContaining([...parts]));
  expect('request' in trimmed).toBe('id' in kept);
  expect(bytesOf(trimmed)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
});

it('always fits and parses, and keeps its address', () => {
  const text = fc.oneof(
    fc.array(fc.nat(0xffff), { maxLength: 400 }).map((codes) => String.fromCharCode(...codes)),
    fc.constantFrom(long, '\0'.repeat(400), '𝕏'.repeat(300)),
  );
  const size = fc.nat({ max: 130 });
  fc.assert(
    fc.property(text, size, fc.nat({ max: 20 }), fc.jsonValue({ maxDepth: 6 }), (words, many, errors, extra) => {
      const frames = times(many, () => ({ file: words, line: 1, column: 1, function: 'f' }));
      const given: Failure = {
        ...failure,
        title: words,
        breadcrumbs: times(many, () => ({ at: 1, category: 'c', message: words, data: { words } })),
        errors: times(errors, () => ({ class: words, message: words, frames })),
        extra: { extra, more: times(many, () => words) },
        componentStack: words.repeat(many),
        tags: { words },
      };
      const trimmed = trimFailure(given);
      expect(bytesOf(trimmed)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
      expect(JSON.parse(JSON.stringify(trimmed))).toMatchObject({ id, digest, occurrence });
      if (bytesOf(trimmed) < bytesOf(given)) expect(trimmed.cut?.length).toBeGreaterThan(0);
    }),
    { numRuns: 20 },
  );
});

it('splits no surrogate pair', () => {
  expect(cutText('ab𝕏cd', 4)).toBe('ab…');
  expect(cutText('ab𝕏cd', 5)).toBe('ab𝕏…');
  expect(cutText('abcd', 4)).toBe('abcd');
});
