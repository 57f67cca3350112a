import { describe, expect, it } from 'vitest';
import { causesOf, toDifference } from '../../../../src/client/engine/reporting/judge-thrown.ts';
import { isLoadFailure } from '../../../../src/client/engine/reporting/thrown.ts';

const hostile = new Proxy(new Error('never read'), {
  get() {
    throw new Error('a trap');
  },
});

describe('causesOf', () => {
  it('follows causes, and stops at a cycle', () => {
    const inner: Error & { cause?: unknown } = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    expect(causesOf(outer)).toEqual([outer, inner]);
    inner.cause = outer;
    expect(causesOf(outer)).toEqual([outer, inner]);
  });

  it.each([[undefined], [null], ['words'], [7], [Symbol('s')], [hostile]])('never throws: %#', (thrown) => {
    expect(causesOf(thrown)).toHaveLength(1);
    expect(isLoadFailure(thrown)).toBe(false);
  });
});

describe('isLoadFailure', () => {
  it.each([
    'Failed to fetch dynamically imported module: https://a.example/assets/a-X.js',
    'error loading dynamically imported module: https://a.example/assets/a-X.js',
    'Importing a module script failed.',
  ])('recognizes browser messages for a module that failed to load: %s', (message) => {
    expect(isLoadFailure(new TypeError(message))).toBe(true);
  });
});

describe('toDifference', () => {
  const intro = `Hydration failed because the server rendered text didn't match the client. Causes:

- A server/client branch.
- Variable input.

https://react.dev/link/hydration-mismatch

`;
  const around = Array.from({ length: 9 }, (_, depth) => `${'  '.repeat(depth + 1)}<Layout${depth}>`).join('\n');
  const inner = `                    <Clock>
                      <b>
                      <time>
+                       10:30
-                       8:30
                      ...`;

  it('keeps the lines that differ, and what is around them', () => {
    const shown = toDifference(`${intro}${around}\n${inner}`);
    expect(shown).toMatch(/^ *<Layout\d>\n.*\n +<Clock>\n +<time>\n\+ +10:30\n- +8:30$/s);
    expect(shown.length).toBeLessThanOrEqual(250);
  });

  it('keeps both sides of long texts', () => {
    const long = 'a long text '.repeat(50);
    const shown = toDifference(`${intro}  <p>\n+   ${long}\n-   ${long}`);
    expect(shown.length).toBeLessThanOrEqual(250);
    expect(shown).toMatch(/^\+ .*\n- /m);
  });

  it.each([
    ['of production', 'Minified React error #418; visit https://react.dev/errors/418?args[]=text&args[]= for more'],
    ['without a tree', intro],
  ])('leaves a message %s as it is', (_, said) => {
    expect(toDifference(said)).toBe(said);
  });
});
