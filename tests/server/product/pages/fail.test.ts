import { expect, it } from 'vitest';
import { fail } from '#product-server/pages/fail.ts';
import { loaderArgs } from '../../../support/product/page-args.ts';

it('passes if TOUR_FAILURES is on, and answers 404 if it is off', () => {
  expect(() => fail.guard?.(loaderArgs({ context: { settings: { tourFailures: true } } }))).not.toThrow();
  expect(() => fail.guard?.(loaderArgs({ context: { settings: { tourFailures: false } } }))).toThrow(
    expect.objectContaining({ kind: 'not-found', status: 404 }),
  );
});
