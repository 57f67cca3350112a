import { validateHeaderValue } from 'node:http';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ControlFlowResponse, isControlFlow, redirect } from '../../../src/shared/routing/control-flow.ts';

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

it('control-flow responses are recognized across bundles, and nothing else is', () => {
  const foreign = runInNewContext("({ [Symbol.for('spillway.control-flow')]: true })") as unknown;
  expect(isControlFlow(foreign)).toBe(true);
  const hostile = new Proxy(
    {},
    {
      has() {
        throw new Error('no');
      },
    },
  );
  const imitation = { kind: 'redirect', status: 303, location: '/' };
  for (const value of [undefined, null, 'redirect', 7, new Error('no'), imitation, hostile, ControlFlowResponse]) {
    expect(isControlFlow(value)).toBe(false);
  }
});

describe('redirect()', () => {
  it.each(['/', '/a/b?c=d&e#f', '/?next=https://evil.example', '/a//b', '/a?b=//c', '/%2F%2Fevil.example'])(
    'accepts %s',
    (to) => {
      expect(thrownBy(() => redirect(to))).toMatchObject({ kind: 'redirect', location: to });
    },
  );

  it.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/ /evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'a',
    '',
    '?a=1',
    '#a',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/./\\evil.example',
    '/.\t//evil.example',
  ])('never redirects to another site by %j', (to) => {
    const thrown = thrownBy(() => redirect(to));
    if (isControlFlow(thrown)) {
      expect(new URL(thrown.location, 'https://weir.example').host).toBe('weir.example');
      expect(thrown.location).not.toMatch(/^\/[/\\]/);
    } else {
      expect(thrown).toBeInstanceOf(TypeError);
    }
  });

  it('redirects to another site with `external`, over HTTP and HTTPS only', () => {
    const leave = (to: string) => thrownBy(() => redirect(to, { external: true }));
    expect(leave('https://pay.example/a b')).toMatchObject({ location: 'https://pay.example/a%20b' });
    for (const to of ['javascript:alert(1)', 'data:,x', '/a', '//pay.example', 'ftp://pay.example', 'pay.example']) {
      expect(leave(to)).toBeInstanceOf(TypeError);
    }
  });

  it('stays on this site for any input, and returns a valid header value', () => {
    const piece = fc.oneof(
      fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
      fc.constantFrom(
        '/',
        '//',
        '\\',
        '.',
        '..',
        '\t',
        '\r\n',
        ':',
        '@',
        '%2f',
        '%09',
        '#',
        '?',
        'evil.example',
        'javascript:',
        '\u2028',
        'é',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const to = pieces.join('');
        const thrown = thrownBy(() => redirect(to));
        if (thrown instanceof TypeError) return;
        const { location } = thrown as ControlFlowResponse;
        expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
        expect(new URL(location, 'https://site.example/a/b').origin).toBe('https://site.example');
        expect(() => validateHeaderValue('Location', location)).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });
});
