import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { cutText, MAX_TITLE_LENGTH, trimFailure } from '../../../../src/server/engine/errors/trim.ts';
import {
  MAX_BREADCRUMBS,
  MAX_COMPONENT_STACK_LENGTH,
  MAX_EVENT_BYTES,
  MAX_REPORTED_FRAMES,
  MAX_VALUE_LENGTH,
} from '../../../../src/shared/engine/limits.ts';

const failure: Failure = {
  id: '0123456789abcdef0123456789abcdef',
  digest: '7K3QM2XA',
  occurrence: '9F4W0R6B',
  rule: 2,
  kind: 'exception',
  side: 'server',
  origin: 'loader',
  at: 1_795_000_000_000,
  build: 'a29092e775f1',
  release: 'v1',
  errors: [
    { class: 'TypeError', message: 'boom', frames: [{ file: 'server/main.js', line: 1, column: 2, function: 'f' }] },
  ],
  title: 'TypeError: boom',
};

const long = 'x'.repeat(1000);
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const breadcrumb = (number: number, message = 'm') => ({ at: number, category: 'log', message });
const frame = (number: number) => ({
  file: `client/assets/${long.slice(0, 100)}.js`,
  line: number,
  column: 1,
  function: 'f',
});

it('does not change what fits, and lists no cuts', () => {
  expect(trimFailure(failure)).toEqual(failure);
  const rich = {
    ...failure,
    breadcrumbs: [breadcrumb(1)],
    extra: { a: { b: [1, null, true] } },
    componentStack: '\n at A',
  };
  expect(trimFailure(rich)).toEqual(rich);
});

it('keeps the last 100 breadcrumbs', () => {
  const breadcrumbs = Array.from({ length: 150 }, (_, index) => breadcrumb(index));
  const trimmed = trimFailure({ ...failure, breadcrumbs });
  expect(trimmed.breadcrumbs).toEqual(breadcrumbs.slice(-MAX_BREADCRUMBS));
  expect(trimmed.cut).toEqual(['breadcrumbs']);
});

it('cuts each reported text at 250 characters, and the title at 200, with an ellipsis', () => {
  const trimmed = trimFailure({
    ...failure,
    title: long,
    errors: [{ class: long, message: long, frames: [{ file: long, line: 1, column: 1, function: long }] }],
    request: { method: 'GET', url: long, headers: { accept: long } },
    extra: { nested: [{ text: long }] },
    breadcrumbs: [{ at: 1, category: 'fetch', message: long, data: { url: long } }],
  });
  expect(trimmed.title).toBe(`${'x'.repeat(MAX_TITLE_LENGTH - 1)}…`);
  const texts = [
    trimmed.errors[0]?.message,
    trimmed.errors[0]?.frames[0]?.file,
    trimmed.request?.url,
    trimmed.request?.headers?.accept,
    trimmed.breadcrumbs?.[0]?.data?.url,
  ];
  for (const text of texts) expect(text).toBe(`${'x'.repeat(MAX_VALUE_LENGTH - 1)}…`);
  expect(JSON.stringify(trimmed)).not.toContain('x'.repeat(MAX_VALUE_LENGTH));
  expect(trimmed.cut).toEqual(['values']);
});

it('keeps the first 20 tags, and cuts their names and values at 64 bytes between characters', () => {
  const many = Array.from({ length: 25 }, (_, index) => [`tag${index}`, '€'.repeat(30)]);
  const { tags = {}, cut } = trimFailure({ ...failure, tags: Object.fromEntries([[long, 'x'], ...many]) });
  expect(Object.keys(tags)).toEqual(['x'.repeat(64), ...many.slice(0, 19).map(([name]) => name)]);
  expect(tags.tag0).toBe('€'.repeat(21));
  expect(cut).toEqual(['tags']);
  expect(trimFailure({ ...failure, tags: { plan: 'pro' } })).toMatchObject({ tags: { plan: 'pro' } });
});

it('keeps the innermost lines of a component stack', () => {
  const stack = Array.from({ length: 1000 }, (_, index) => `\n    at Component${index} (src/x.tsx)`).join('');
  const { componentStack = '', cut } = trimFailure({ ...failure, componentStack: stack });
  expect(componentStack.length).toBeLessThanOrEqual(MAX_COMPONENT_STACK_LENGTH);
  expect(componentStack.length).toBeGreaterThan(MAX_COMPONENT_STACK_LENGTH - 100);
  expect(stack.startsWith(componentStack.slice(0, -2))).toBe(true);
  expect(componentStack.endsWith('(src/x.tsx)\n…')).toBe(true);
  expect(cut).toEqual(['componentStack']);
});

it('keeps the frames next to the throw', () => {
  const frames = Array.from({ length: 200 }, (_, index) => frame(index));
  const trimmed = trimFailure({ ...failure, errors: [{ class: 'E', message: '', frames }] });
  expect(trimmed.errors[0]?.frames).toEqual(frames.slice(0, MAX_REPORTED_FRAMES));
  expect(trimmed.cut).toEqual(['frames']);
});

describe('a failure that is too large', () => {
  const wide = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, value]));

  it('first loses the depth of additional data', () => {
    const extra = { note: 'kept', deep: { a: { b: { c: wide(1000, long.slice(0, 200)) } } } };
    const trimmed = trimFailure({ ...failure, extra, breadcrumbs: [breadcrumb(1)] });
    expect(trimmed.extra).toEqual({ note: 'kept', deep: { a: { b: '[cut]' } } });
    expect(trimmed.breadcrumbs).toHaveLength(1);
    expect(trimmed.cut).toEqual(['extra']);
  });

  it('then loses older breadcrumbs', () => {
    const data = wide(12, long.slice(0, 240)) as Record<string, string>;
    const breadcrumbs = Array.from({ length: 100 }, (_, index) => ({ ...breadcrumb(index), data }));
    const trimmed = trimFailure({ ...failure, breadcrumbs, extra: { note: 'kept' } });
    expect(trimmed.breadcrumbs).toHaveLength(25);
    expect(trimmed.breadcrumbs?.at(-1)).toEqual(breadcrumbs.at(-1));
    expect(trimmed.extra).toEqual({ note: 'kept' });
    expect(trimmed.cut).toEqual(['breadcrumbs']);
  });

  it('then loses all additional data, and finally frames', () => {
    const frames = Array.from({ length: 100 }, (_, index) => frame(index));
    const errors = Array.from({ length: 10 }, () => ({ class: 'E', message: 'm', frames }));
    const trimmed = trimFailure({
      ...failure,
      errors,
      extra: wide(1000, long) as Record<string, unknown>,
      breadcrumbs: [breadcrumb(1)],
    });
    expect(trimmed.extra).toBeUndefined();
    expect(trimmed.breadcrumbs).toBeUndefined();
    expect(trimmed.errors).toHaveLength(10);
    expect(trimmed.errors[0]?.frames).toEqual(frames.slice(0, 50));
    expect(trimmed.cut).toEqual(expect.arrayContaining(['values', 'extra', 'frames']));
  });

  it('is reduced to a stub if nothing else helps', () => {
    const nul = '\0'.repeat(300);
    const errors = Array.from({ length: 12 }, () => ({
      class: nul,
      message: nul,
      members: Array.from({ length: 500 }, () => nul),
      frames: Array.from({ length: 200 }, () => ({ file: nul, line: 1, column: 1, function: nul })),
    }));
    const all = {
      ...failure,
      title: nul,
      build: nul,
      release: nul,
      route: nul,
      request: { method: nul, url: nul },
      errors,
    };
    const trimmed = trimFailure(all);
    expect(bytesOf(trimmed)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(trimmed).toMatchObject({
      id: failure.id,
      digest: failure.digest,
      occurrence: failure.occurrence,
      at: failure.at,
    });
    expect(trimmed.errors).toEqual([{ class: cutText(nul), message: cutText(nul), frames: [] }]);
    expect(trimmed.cut).toEqual(['errors', 'frames', 'values']);
  });
});

it('always fits and parses, and keeps its address', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.constantFrom(long, '\0'.repeat(400), '𝕏'.repeat(300)),
  );
  const times = (count: number, item: unknown) => Array.from({ length: count }, () => item);
  const size = fc.nat({ max: 130 });
  fc.assert(
    fc.property(
      text,
      size,
      size,
      size,
      fc.jsonValue({ maxDepth: 6 }),
      text,
      (words, crumbs, frames, errors, extra, stack) => {
        const given = {
          ...failure,
          title: words,
          breadcrumbs: times(crumbs, { at: 1, category: 'c', message: words, data: { words } }),
          errors: times(errors, {
            class: words,
            message: words,
            frames: times(frames, { file: words, line: 1, column: 1, function: 'f' }),
          }),
          extra: { extra, more: times(crumbs, words) },
          componentStack: stack.repeat(crumbs),
          tags: { words },
        } as Failure;
        const trimmed = trimFailure(given);
        expect(bytesOf(trimmed)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
        expect(JSON.parse(JSON.stringify(trimmed))).toMatchObject({
          id: failure.id,
          digest: failure.digest,
          occurrence: failure.occurrence,
        });
        if (bytesOf(trimmed) < bytesOf(given)) expect(trimmed.cut?.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 60 },
  );
});

it('limits circular values, and omits values that JSON does not support', () => {
  const circle: Record<string, unknown> = { f: () => 1, n: 1n };
  circle.self = circle;
  circle.other = circle;
  const trimmed = trimFailure({ ...failure, extra: circle });
  expect(bytesOf(trimmed)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  expect(trimmed.errors).toEqual(failure.errors);
});

describe('cutText', () => {
  it('splits no surrogate pair', () => {
    expect(cutText('ab𝕏cd', 4)).toBe('ab…');
    expect(cutText('ab𝕏cd', 5)).toBe('ab𝕏…');
    expect(cutText('abcd', 4)).toBe('abcd');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, length) => {
        const cut = cutText(text, length);
        expect(cut.length).toBeLessThanOrEqual(length);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});
