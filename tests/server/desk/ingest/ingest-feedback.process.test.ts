import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../../src/server/desk/desk.ts';
import { createKeepFeedback, type KeepFeedbackOptions } from '../../../../src/server/desk/ingest/keep-feedback.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { parseAddress } from '../../../../src/server/engine/errors/parse-address.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { ingestFeedback } from '../../../../src/server/reports/feedback/ingest-feedback.ts';
import { Day, Second } from '../../../../src/shared/units.ts';
import { createTestApp, spyOnLog } from '../../../support/app.ts';
import { describeStores, ingest, thinOf, wholeOf } from '../../../support/stores.ts';

const ADDRESS = '7K3QM2XA-9F4W0R6B';
const TEXT = 'I was about to pay.';

async function start(
  store: Awaited<ReturnType<Parameters<Parameters<typeof describeStores>[1]>[0]>>['store'],
  limits?: KeepFeedbackOptions['limits'],
) {
  const { log, lines } = spyOnLog();
  const asked: string[] = [];
  const answers: Promise<unknown>[] = [];
  let isAway = false;
  let done: Promise<void> = Promise.resolve();
  const desk = {
    ask(_name: string, address: string) {
      asked.push(address);
      const parsed = parseAddress(address);
      const answer = isAway ? Promise.reject(new StoreAwayError('away')) : parsed && store.find(parsed);
      answers.push(Promise.resolve(answer));
      return answer;
    },
    journalFeedback(feedback: Parameters<Desk['journalFeedback']>[0]) {
      done = ingest(store, { entry: 'feedback', feedback });
      return true;
    },
  } as unknown as Desk;
  const feedback = ingestFeedback({
    feedback: createKeepFeedback({ desk, environment: 'production', ...(limits && { limits }) }),
    origins: createOrigins([], 'http://127.0.0.1'),
    scrubberOf: () => createScrubber(),
    toVisitor: () => 'a hash',
    log,
  });
  const app = createTestApp({ log, feedback });
  onTestFinished(() => done);
  return {
    app,
    asked,
    lines,
    goAway() {
      isAway = true;
    },
    post: (fields: Record<string, string>, path = '/orders') =>
      request(app).post(`${path}?_feedback`).type('form').set('Sec-Fetch-Site', 'same-origin').send(fields),
    async read(digest = '7K3QM2XA') {
      // Feedback is stored after the response is sent.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await Promise.allSettled(answers);
      await new Promise((resolve) => setImmediate(resolve));
      await done;
      return store.listFeedback(digest, 10);
    },
  };
}

describeStores('feedback', (open) => {
  it('is acknowledged and stored with the failure', async () => {
    const { store } = await open();
    await ingest(store, wholeOf({ digest: '7K3QM2XA', occurrence: '9F4W0R6B', at: Date.now() }));
    const { post, read } = await start(store);
    const reply = await post({
      address: ADDRESS,
      text: `  ${TEXT} password=hunter2hunter2`,
      email: 'ann@example.com',
      website: '',
    });
    expect([reply.status, reply.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(reply.text).toContain('<h1>Feedback sent</h1>');
    expect(reply.text).toContain('<a href="/orders">Try the page again</a>');
    const [said, ...others] = await read();
    expect(others).toEqual([]);
    expect(said).toMatchObject({ address: ADDRESS, email: 'ann@example.com', visitor: 'a hash' });
    expect(said?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/orders$/);
    expect(said?.text).toContain(TEXT);
    expect(said?.text).not.toContain('hunter2');
  });

  it.each([
    ['about an unknown failure', '2M3KQ7XA-9F4W0R6B'],
    ['about an unknown time', '7K3QM2XA-00000000'],
    ['about a whole incident', '7K3QM2XA'],
    ['about a failure of last week', '3Q7K2MXA-8E3V9QZA'],
    ['about text that is not an address', "' OR 1=1 --"],
    ['without an address', ''],
  ])('%s gets the same response, but is not stored', async (_what, address) => {
    const { store } = await open();
    await ingest(
      store,
      wholeOf({ digest: '7K3QM2XA', occurrence: '9F4W0R6B', at: Date.now() }),
      wholeOf({ digest: '3Q7K2MXA', occurrence: '8E3V9QZA', at: Date.now() - 7 * Day }),
    );
    const { post, read } = await start(store);
    const [known, unknown] = [await post({ address: ADDRESS, text: TEXT }), await post({ address, text: TEXT })];
    expect(unknown.status).toBe(known.status);
    expect(unknown.text).toBe(known.text);
    const kept = await Promise.all(['2M3KQ7XA', '3Q7K2MXA'].map(read));
    expect(kept.flat()).toEqual([]);
    expect(await read()).toHaveLength(1);
  });

  it('about a failure that then became frequent is stored with its incident', async () => {
    const { store } = await open();
    const many = Array.from({ length: 1001 }, () => thinOf({ digest: '7K3QM2XA', at: Date.now() }));
    await ingest(store, ...many);
    const { post, read } = await start(store);
    await post({ address: '7K3QM2XA-ZZZZZZZZ', text: TEXT });
    expect(await read()).toMatchObject([{ address: '7K3QM2XA', text: TEXT }]);
  });
});

describe('the form', () => {
  const none = { find: async () => undefined } as never;

  it.each([
    [{ address: ADDRESS, text: '   ' }, 422, /what you were doing/],
    [{ address: ADDRESS, text: 'x'.repeat(4097) }, 422, /below 4096 characters/],
    [{ address: ADDRESS, text: TEXT, email: 'no address' }, 422, /not a valid email address/],
    [{ address: ADDRESS, text: 'x'.repeat(60_000) }, 413, /larger than 48 KiB/],
  ])('%#: explains the error to people and to scripts', async (fields, status, words) => {
    const { post, asked } = await start(none);
    const page = await post(fields);
    expect([page.status, page.type]).toEqual([status, 'text/html']);
    expect(page.text).toMatch(words);
    const script = await post(fields).set('Accept', 'application/json');
    expect([script.status, script.type]).toEqual([status, 'application/json']);
    expect(script.body.words).toMatch(words);
    expect(asked).toEqual([]);
  });

  it('is rejected from another site', async () => {
    const { post, asked } = await start(none);
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }]) {
      expect((await post({ address: ADDRESS, text: TEXT }).set(headers)).status).toBe(403);
    }
    expect(asked).toEqual([]);
  });

  it('ignores submissions that fill in the hidden field', async () => {
    const { post, asked } = await start(none);
    const reply = await post({ address: ADDRESS, text: TEXT, website: 'https://spam.example' });
    expect([reply.status, asked]).toEqual([200, []]);
  });

  it('limits submissions per address and in total', async () => {
    const limits = { turnsOfSender: { burst: 2, perSecond: 1 / 60 }, turns: { burst: 100, perSecond: 1 } };
    const one = await start(none, limits);
    const statuses = [];
    for (let times = 0; times < 3; times++) statuses.push((await one.post({ address: ADDRESS, text: TEXT })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await one.post({ address: ADDRESS, text: TEXT });
    expect(refused.text).toMatch(/Wait a minute/);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const all = await start(none, { turns: { burst: 1, perSecond: 1 / Second } });
    expect((await all.post({ address: ADDRESS, text: TEXT })).status).toBe(200);
    expect((await all.post({ address: ADDRESS, text: TEXT })).status).toBe(429);
  });

  it('thanks the visitor while the store is unavailable, and logs that the feedback was lost', async () => {
    const { post, goAway, lines, read } = await start({ listFeedback: async () => [] } as never);
    goAway();
    expect((await post({ address: ADDRESS, text: TEXT })).status).toBe(200);
    await read();
    expect(lines.some(({ msg }) => msg === 'Feedback from a visitor could not be stored.')).toBe(true);
  });

  it('ignores requests that only look like feedback', async () => {
    const { app } = await start(none);
    const post = (path: string) =>
      request(app).post(path).type('form').set('Sec-Fetch-Site', 'same-origin').send({ text: TEXT });
    for (const path of ['/orders', '/orders?x=_feedback', '/orders?_feedbacks', '/orders/_feedback']) {
      expect((await post(path)).text).not.toContain('Thank you');
    }
    expect((await request(app).get('/orders?_feedback')).text).toContain('GET');
  });

  it('links back only to the page that the visitor came from', async () => {
    const { post } = await start(none);
    const read = async (referer: string) => {
      const reply = await post({ address: ADDRESS, text: TEXT }).set({ Host: 'shop.example', Referer: referer });
      return /<a href="([^"]*)">Try/.exec(reply.text)?.[1];
    };
    expect(await read('http://shop.example/orders?page=2&x="y')).toBe('/orders?page=2&amp;x=%22y');
    expect(await read('https://evil.example/orders?page=2')).toBe('/orders');
    expect(await read('http://shop.example/elsewhere')).toBe('/orders');
    expect(await read('javascript:alert(1)')).toBe('/orders');
  });
});
