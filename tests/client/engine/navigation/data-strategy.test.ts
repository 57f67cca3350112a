import type { DataStrategyFunction } from 'react-router';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDataStrategy } from '../../../../src/client/engine/navigation/data-strategy.ts';
import type { PageDataStore } from '../../../../src/client/engine/page-data/store.ts';
import type { PagePayload } from '../../../../src/shared/engine/wire/payload.ts';

const ORIGIN = 'http://weir.example';
const PAGE: PagePayload = { build: 'b1', routes: ['page'], params: {}, data: { page: 'loaded' }, styles: {} };

type Args = Parameters<DataStrategyFunction>[0];

afterEach(() => void vi.unstubAllGlobals());

/** A strategy whose server answers each action with this payload. */
function createStrategy(answer: object) {
  const loads: string[] = [];
  const answers: boolean[] = [];
  const store = {
    load: async (url: string) => {
      loads.push(url);
      return { kind: 'page', payload: PAGE, status: 200, etag: undefined };
    },
    remember: () => {},
    recall: () => undefined,
    dropAll: () => {},
    dropPrefetches: () => {},
    isSkewed: () => false,
  } as unknown as PageDataStore; // what a strategy uses of one
  const strategy = createDataStrategy({
    build: 'b1',
    store,
    loader: {
      modules: new Map(),
      styles: new Map(),
      load: async () => {},
      loadStyles: async () => {},
      prepare: async () => {},
    },
    onRecall: () => {},
    onFailure: () => {},
    onAnswer: (isTaken) => void answers.push(isTaken),
  });
  const response = () =>
    new Response(`${JSON.stringify({ d: answer })}\n`, {
      headers: { 'Content-Type': 'application/x-ndjson', 'X-Build-Id': 'b1' },
    });
  vi.stubGlobal('fetch', async () => response());
  const ask = (path: string, init: RequestInit = {}, fetcherKey: string | null = null) =>
    strategy({
      request: new Request(ORIGIN + path, init),
      matches: [{ route: { id: 'page' }, shouldCallHandler: () => true }],
      fetcherKey,
    } as unknown as Args); // of a match no more is read
  const post = { method: 'POST', body: new URLSearchParams({ _action: 'page.save' }) };
  return {
    loads,
    answers,
    load: (path: string) => ask(path),
    act: (path: string, key?: string) => ask(path, post, key),
  };
}

describe('what an action brought along', () => {
  it('is shown by the load that follows, without a request', async () => {
    const { loads, load, act } = createStrategy({ ...PAGE, data: { page: 'fresh' } });
    await act('/a');
    expect(await load('/a')).toEqual({ page: { type: 'data', result: 'fresh' } });
    expect(loads).toEqual([]);
  });

  it('is not kept for later, when a fetcher posted it to another page', async () => {
    const { loads, load, act } = createStrategy({ ...PAGE, data: { page: 'fresh' } });
    await act('/other', 'fetcher');
    await load('/a');
    expect(await load('/other')).toEqual({ page: { type: 'data', result: 'loaded' } });
    expect(loads).toEqual(['/a', '/other']);
  });

  it("is the action's outcome, also where the page around it has failed", async () => {
    const action = { action: 'root.subscribe', status: 422, errors: { email: 'This is no address.' } };
    const error = { kind: 'not-found', status: 404 } as const;
    const { load, act } = createStrategy({ ...PAGE, errors: { page: error }, action });
    const { page } = await act('/a');
    expect(page).toMatchObject({ type: 'data', result: { data: action, init: { status: 422 } } });
    expect(await load('/a')).toEqual({ page: { type: 'error', result: error } });
  });

  it('is an error, where the page failed and no action answered', async () => {
    const error = { kind: 'forbidden', status: 403 } as const;
    const { act } = createStrategy({ ...PAGE, errors: { page: error } });
    expect(await act('/a')).toEqual({ page: { type: 'error', result: error } });
  });
});

describe('whether an action took what was sent', () => {
  const outcome = { action: 'page.save', status: 200 };
  const error = { kind: 'failure', status: 500 };

  it.each([
    ['it answered', { ...PAGE, action: outcome }, true],
    ['it answered nothing', PAGE, true],
    ['it led elsewhere', { build: 'b1', redirect: '/b' }, true],
    ['it refused fields', { ...PAGE, action: { ...outcome, status: 422, errors: { name: 'Too long.' } } }, false],
    ['it failed', { ...PAGE, errors: { page: error } }, false],
    ['it answered, and the page around it failed', { ...PAGE, action: outcome, errors: { page: error } }, true],
  ])('is told where %s', async (_case, answer, isTaken) => {
    const { answers, act } = createStrategy(answer);
    await act('/a');
    expect(answers).toEqual([isTaken]);
  });

  it('is not told of a fetcher, which shows nothing in the page by itself', async () => {
    const { answers, act } = createStrategy(PAGE);
    await act('/a', 'fetcher');
    expect(answers).toEqual([]);
  });
});
