import { describe, expect, it } from 'vitest';
import { BROWSER_FAILURE, toShownError } from '../../../src/shared/rendering/page-error.ts';
import { forbidden, publicError, redirect } from '../../../src/shared/routing/control-flow.ts';
import { WireFailure } from '../../../src/shared/wire/decode.ts';

function thrownBy(run: () => never): unknown {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
}

describe('toShownError', () => {
  it('converts control-flow responses', () => {
    expect(toShownError(thrownBy(forbidden))).toEqual({ kind: 'forbidden', status: 403 });
    expect(toShownError(thrownBy(() => publicError(418, 'Tea.')))).toEqual({
      kind: 'public',
      status: 418,
      message: 'Tea.',
    });
    expect(toShownError(thrownBy(() => redirect('/a')))).toEqual({ kind: 'redirect', status: 303, location: '/a' });
  });

  it('returns the page error that the server sent', () => {
    const pageError = { kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' } as const;
    expect(toShownError(new WireFailure(pageError))).toEqual(pageError);
    expect(toShownError(pageError)).toBe(pageError);
  });

  it.each([
    ['an error', new Error('secret')],
    ['an error that imitates a page error', Object.assign(new Error('secret'), { kind: 'public', status: 500 })],
    ['an error with an invalid page error', Object.assign(new Error('secret'), { pageError: { message: 'secret' } })],
    ['a text', 'secret'],
    ['undefined', undefined],
  ])('reveals nothing about %s except that it happened in the browser', (_name, thrown) => {
    expect(toShownError(thrown)).toBe(BROWSER_FAILURE);
  });
});
