import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { visitorId } from '../../../../src/server/engine/monitoring/visitor-id.ts';
import type { ProductReporting } from '../../../../src/server/engine/product.ts';
import { RequestInfo, requestInfo, setRequestInfo } from '../../../../src/server/engine/request/request-info.ts';

type Find = NonNullable<ProductReporting['visitorId']>;

/** Sends `requests` requests, each of which reads the id `times` times. */
async function ask(find: Find, { times = 1, requests = 1 } = {}) {
  const warn = vi.fn();
  const asked = vi.fn(find);
  const step = visitorId({ visitorId: asked, log: { warn } });
  const ids: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    setRequestInfo(req, new RequestInfo({ requestId: 'r', method: 'GET', address: '::1', origin: 'http://x' }));
    step(req, res, () => {
      for (let time = 0; time < times; time++) ids.push(requestInfo(req).readVisitorId());
      res.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (let index = 0; index < requests; index++) {
    await new Promise((resolve) => {
      get({ port, agent: false, headers: { Cookie: 'user=ann' } }, (reply) => reply.resume().on('end', resolve));
    });
  }
  return { ids, warn, asked };
}

it('is what the product returns, read at most once a request and only if needed', async () => {
  const { ids, asked } = await ask((req) => req.headers.cookie?.replace('user=', ''), { times: 3 });
  expect(ids).toEqual(['ann', 'ann', 'ann']);
  expect(asked).toHaveBeenCalledTimes(1);
  expect((await ask(() => 'ann', { times: 0 })).asked).not.toHaveBeenCalled();
});

it.each<[string, Find]>([
  [
    'throws',
    () => {
      throw new Error('no session');
    },
  ],
  ['returns a promise', (() => Promise.reject(new Error('late'))) as unknown as Find],
  ['returns a number', (() => 7) as unknown as Find],
])('is unknown if it %s, which is logged once', async (_how, find) => {
  const { ids, warn, asked } = await ask(find, { requests: 3 });
  expect(ids).toEqual([undefined, undefined, undefined]);
  expect(asked).toHaveBeenCalledTimes(3);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('is unknown if it is empty', async () => {
  expect((await ask(() => '')).ids).toEqual([undefined]);
});

it('is cut if it is long', async () => {
  expect((await ask(() => 'x'.repeat(10_000))).ids[0]).toHaveLength(200);
});
