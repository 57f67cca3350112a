import { afterEach, describe, expect, it, vi } from 'vitest';
import { fetchPageData, type PageResult } from '../../../src/client/page-data/fetch-page-data.ts';
import type { DeferredPromise } from '../../../src/shared/wire/decode.ts';
import { encode } from '../../../src/shared/wire/encode.ts';
import type { PagePayload } from '../../../src/shared/wire/payload.ts';
import { createBody } from './create-body.ts';

const WIRE = { 'Content-Type': 'application/x-ndjson; charset=utf-8', 'X-Build-Id': 'b1' };
const bytes = new TextEncoder();

function makePage(data: Record<string, unknown>): PagePayload {
  return { build: 'b1', routes: ['@frame', 'home'], params: {}, data, styles: {} };
}

function toLine(value: unknown): string {
  return `${encode(value, { toError: () => ({ kind: 'failure', status: 500 }) }).head}\n`;
}

/** A fetch with a single response. */
function answerWith(body: BodyInit | null, init: ResponseInit = { headers: WIRE }) {
  return async () => new Response(body, init);
}

function ask(fetch: typeof globalThis.fetch) {
  vi.stubGlobal('fetch', fetch);
  return fetchPageData('/', { base: '', attempts: 1 });
}

afterEach(() => void vi.unstubAllGlobals());

async function fetchPage(fetch: typeof globalThis.fetch): Promise<PageResult> {
  const result = await ask(fetch);
  if (result.kind !== 'page') throw new Error(`got ${JSON.stringify(result)}`);
  return result;
}

it.each([
  ['a sign-in page', '<html>', { status: 200, headers: { 'Content-Type': 'text/html' } }, 'not with page data'],
  ['an empty body', '', { headers: WIRE }, 'wire format'],
  ['half a line', '{"d":{"build":', { headers: WIRE }, 'wire format'],
  ['another value', '{"d":{"routes":1}}', { headers: WIRE }, 'is not a page'],
])('a response fails for %s', async (_, body, init, message) => {
  expect(await ask(answerWith(body, init))).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining(message) },
  });
});

describe('the stream', () => {
  const { head } = encode(makePage({ home: { a: Promise.resolve(), b: Promise.resolve() } }), {
    toError: () => ({ kind: 'failure', status: 500 }),
  });

  it('is read line by line, regardless of its chunks', async () => {
    const text = `${toLine(makePage({ home: { text: 'päge ✓ 🚰', late: 0 } })).trimEnd()}\n\n`;
    const all = bytes.encode(`${head}\n[1,0,{"d":"zwölf 🚰"}]\n[0,0,{"d":1}]`);
    for (const size of [1, 2, 3, 7, 1_000]) {
      const { body, write, end } = createBody();
      for (let i = 0; i < all.length; i += size) write(all.subarray(i, i + size));
      end();
      const result = await fetchPage(answerWith(body));
      await result.done;
      const { a, b } = result.payload.data.home as { a: DeferredPromise; b: DeferredPromise };
      expect([a.value, b.value]).toEqual([1, 'zwölf 🚰']);
    }
    expect((await fetchPage(answerWith(text))).payload.data.home).toEqual({ text: 'päge ✓ 🚰', late: 0 });
  });

  it.each([
    ['ends early', (body: ReturnType<typeof createBody>) => body.end(), 'ended before all'],
    ['is lost', (body: ReturnType<typeof createBody>) => body.lose(new Error('reset by peer')), 'reset by peer'],
    [
      'is cut within a line',
      (body: ReturnType<typeof createBody>) => {
        body.write('[0,0,{"d');
        body.end();
      },
      'truncated',
    ],
  ])('rejects pending values when it %s', async (_, cut, message) => {
    const body = createBody();
    body.write(`${head}\n`);
    const { payload, done } = await fetchPage(answerWith(body.body));
    cut(body);
    await expect(done).rejects.toThrow(message);
    const { a } = payload.data.home as { a: DeferredPromise };
    await expect(a).rejects.toThrow(message);
  });
});
