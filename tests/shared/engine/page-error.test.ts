import { describe, expect, test } from 'vitest';
import { notFound } from '../../../src/shared/engine/outcome.ts';
import { isPageError, toShownError, UNKNOWN_FAILURE } from '../../../src/shared/engine/page-error.ts';

describe('isPageError', () => {
  test('knows what the funnel made', () => {
    expect(isPageError({ kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' })).toBe(true);
  });

  test('takes nothing that was thrown for one, even where it has the same fields', () => {
    const error = Object.assign(new Error('canary postgres://user:secret@db/'), { kind: 'failure', status: 500 });
    expect(isPageError(error)).toBe(false);
  });
});

describe('toShownError', () => {
  test('shows of an outcome what its page needs', () => {
    let thrown: unknown;
    try {
      notFound();
    } catch (error) {
      thrown = error;
    }
    expect(toShownError(thrown)).toEqual({ kind: 'not-found', status: 404 });
  });

  test('shows nothing of any other error', () => {
    const error = Object.assign(new Error('canary'), { kind: 'public', status: 500 });
    expect(toShownError(error)).toEqual(UNKNOWN_FAILURE);
  });
});
