import request from 'supertest';
import { expect, it, vi } from 'vitest';
import type { ProductReporting } from '../../../src/server/define-product.ts';
import { visitorId } from '../../../src/server/front/visitor.ts';
import { requestInfo } from '../../../src/server/request/request-info.ts';
import { createTestApp } from '../../support/app.ts';

type Find = NonNullable<ProductReporting['visitorId']>;

/** Sends `requests` requests, each of which reads the id `times` times. */
async function ask(find: Find, { times = 1, requests = 1 } = {}) {
  const warn = vi.fn();
  const asked = vi.fn(find);
  const ids: (string | undefined)[] = [];
  const app = createTestApp({
    steps: [visitorId(asked, { warn })],
    routes(req, res) {
      for (let time = 0; time < times; time++) ids.push(requestInfo(req).readVisitorId());
      res.end();
    },
  });
  for (let index = 0; index < requests; index++) await request(app).get('/x').set('Cookie', 'user=ann');
  return { ids, warn, asked };
}

it('is what the product returns, read at most once a request and only if needed', async () => {
  const { ids, asked } = await ask((req) => req.headers.cookie?.replace('user=', ''), { times: 3 });
  expect(ids).toEqual(['ann', 'ann', 'ann']);
  expect(asked).toHaveBeenCalledTimes(1);
  expect((await ask(() => 'ann', { times: 0 })).asked).not.toHaveBeenCalled();
  expect((await ask(() => 'x'.repeat(10_000))).ids[0]).toHaveLength(200);
  expect((await ask(() => '')).ids).toEqual([undefined]);
});

it.each<[string, find: () => unknown]>([
  ['throws', () => expect.unreachable()],
  ['returns a promise', () => Promise.reject(new Error('late'))],
  ['returns a number', () => 7],
])('is unknown if it %s, which is logged once', async (_how, find) => {
  const { ids, warn, asked } = await ask(find as Find, { requests: 3 });
  expect(ids).toEqual([undefined, undefined, undefined]);
  expect(asked).toHaveBeenCalledTimes(3);
  expect(warn).toHaveBeenCalledTimes(1);
});
