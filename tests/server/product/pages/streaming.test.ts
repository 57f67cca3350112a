import { expect, it } from 'vitest';
import { streaming } from '#product-server/pages/streaming.ts';
import { loaderArgs } from '../../../support/product/page-args.ts';

it('stops waiting when the visitor leaves', async () => {
  const visit = new AbortController();
  const { upstream, mountains, broken } = streaming.loader(loaderArgs({ signal: visit.signal }));
  visit.abort();
  for (const result of await Promise.allSettled([upstream, mountains, broken])) {
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
});
