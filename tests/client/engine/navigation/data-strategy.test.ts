import { type DataStrategyFunction, IDLE_NAVIGATION } from 'react-router';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDataStrategy } from '../../../../src/client/engine/navigation/data-strategy.ts';
import type { PageDataStore } from '../../../../src/client/engine/page-data/store.ts';
import type { PagePayload } from '../../../../src/shared/engine/wire/payload.ts';

const ORIGIN = 'http://weir.example';
const PAGE: PagePayload = { build: 'b1', routes: ['page'], params: {}, data: { page: 'loaded' }, styles: {} };

const location = { pathname: '/a', search: '', hash: '', state: null, key: 'default', mask: undefined };

type Args = Parameters<DataStrategyFunction>[0];

afterEach(() => void vi.unstubAllGlobals());

/** Creates a strategy whose server responds to each action with this payload. */
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
  } as unknown as PageDataStore; // the parts that a strategy uses
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
    isShell: () => false,
    onRecall: () => {},
    onFailure: () => {},
    onAnswer: (isTaken) => void answers.push(isTaken),
    getState: () => ({ location, navigation: IDLE_NAVIGATION, fetchers: new Map() }),
    onStay: () => {},
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
    } as unknown as Args); // the only parts of a match that are read
  const post = { method: 'POST', body: new URLSearchParams({ _action: 'page.save' }) };
  return {
    loads,
    answers,
    load: (path: string) => ask(path),
    act: (path: string, key?: string) => ask(path, post, key),
  };
}

describe('page data in the response to an action', () => {
  it("is the action's result, even if the page around it failed", async () => {
    const action = { action: 'root.subscribe', status: 422, errors: { email: 'This is no address.' } };
    const error = { kind: 'not-found', status: 404 } as const;
    const { load, act } = createStrategy({ ...PAGE, errors: { page: error }, action });
    const { page } = await act('/a');
    expect(page).toMatchObject({ type: 'data', result: { data: action, init: { status: 422 } } });
    expect(await load('/a')).toEqual({ page: { type: 'error', result: error } });
  });
});

describe('whether an action succeeded', () => {
  const outcome = { action: 'page.save', status: 200 };
  const error = { kind: 'failure', status: 500 };

  it.each([
    ['it redirected', { build: 'b1', redirect: '/b' }, true],
    ['it rejected fields', { ...PAGE, action: { ...outcome, status: 422, errors: { name: 'Too long.' } } }, false],
    ['it failed', { ...PAGE, errors: { page: error } }, false],
    ['it succeeded, and the page around it failed', { ...PAGE, action: outcome, errors: { page: error } }, true],
  ])('is told where %s', async (_case, answer, isTaken) => {
    const { answers, act } = createStrategy(answer);
    await act('/a');
    expect(answers).toEqual([isTaken]);
  });
});
