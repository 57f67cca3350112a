import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import type { ApiDocument } from '../../../support/api-document.ts';
import { type AskOptions, startDeskApi, type TestDeskApi, fullWithSource } from '../../../support/desk-api.ts';
import { VERA } from '../../../support/people.ts';
import { ingest, summaryOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const OTHER = '2M3KQ7XA';
const THIRD = '3M3KQ7XA';
const INCIDENT = `/incidents/${DIGEST}`;

const FEEDBACK = { id: 'f0', address: `${DIGEST}-9F4W0R6B`, text: 'It broke.', at: Date.now() };

const TARGET = { id: 'hook', name: 'Webhook hooks.example.com' };
const RESULTS = [{ target: TARGET.name, ok: true, words: 'It answered 200.' }];

/** @param calls what the desk worker does without the store */
async function start(calls = { sendTestNotifications: async () => RESULTS }): Promise<TestDeskApi> {
  const api = await startDeskApi({ notify: { targets: [TARGET.name], settings: [] }, calls });
  await ingest(
    api.site.store,
    fullWithSource(),
    summaryOf({ digest: OTHER, occurrence: '2M3KQ7XA' }),
    summaryOf({ digest: THIRD, occurrence: '3M3KQ7XA' }),
    { entry: 'feedback', feedback: FEEDBACK },
  );
  await api.site.store.useBuild({ id: 'build-1', release: 'v1' });
  await api.site.store.storeTestNotification(TARGET, { uid: '1', ok: true, words: 'It answered 200.' });
  return api;
}

type Asked = readonly [path: string, options?: AskOptions];
type Asks = Readonly<Record<number, Asked>>;

const NOTE = { body: { text: 'It is the cache.' } };
const UNKNOWN = '/incidents/00000000';

/** Requests that produce the answers that only one operation has, in the order in which they run. */
const OWN: Readonly<Record<string, Asks>> = {
  getOpenApi: { 200: ['/openapi.json'] },
  listIncidents: { 200: ['/incidents'], 400: ['/incidents?state=gone'] },
  getIncident: { 200: [INCIDENT], 400: [`${INCIDENT}?environment=`], 404: [UNKNOWN] },
  getTest: { 200: [`${INCIDENT}/test`], 400: [`${INCIDENT}/test?occurrence=x`], 404: [`${UNKNOWN}/test`] },
  changeIncident: {
    200: [INCIDENT, { body: { status: { state: 'ignored', untilMore: 10 }, assignee: 'ada' } }],
    400: [INCIDENT, { body: { assignee: 'ada' }, headers: { 'If-Match': 'no tag' } }],
    404: [UNKNOWN, { body: { assignee: 'ada' } }],
    412: [INCIDENT, { body: { assignee: 'ada' }, headers: { 'If-Match': '"999.abc"' } }],
    422: [INCIDENT, { body: { status: { state: 'gone' } } }],
  },
  mergeIncident: {
    200: [`/incidents/${OTHER}/merge`, { body: { into: DIGEST } }],
    400: [`/incidents/${OTHER}/merge`, { body: '{', headers: { 'Content-Type': 'application/json' } }],
    404: [`/incidents/${OTHER}/merge`, { body: { into: '00000000' } }],
    409: [`/incidents/${OTHER}/merge`, { body: { into: DIGEST } }],
    412: [`/incidents/${OTHER}/merge`, { body: { into: DIGEST }, headers: { 'If-Match': '"999.abc"' } }],
    422: [`/incidents/${OTHER}/merge`, { body: { into: 'x' } }],
  },
  separateIncident: {
    200: [`/incidents/${OTHER}/separate`],
    404: [`${UNKNOWN}/separate`],
    409: [`/incidents/${OTHER}/separate`],
    400: [`/incidents/${OTHER}/separate`, { headers: { 'If-Match': 'x' } }],
    412: [`/incidents/${OTHER}/separate`, { headers: { 'If-Match': '"999.abc"' } }],
  },
  listOccurrences: {
    200: [`${INCIDENT}/occurrences`],
    400: [`${INCIDENT}/occurrences?after=x`],
    404: [`${UNKNOWN}/occurrences`],
  },
  getOccurrence: {
    200: [`${INCIDENT}/occurrences/9F4W0R6B`],
    400: [`${INCIDENT}/occurrences/9F4W0R6B?environment=`],
    404: [`${INCIDENT}/occurrences/00000000`],
  },
  listNotes: { 200: [`${INCIDENT}/notes`], 400: [`${INCIDENT}/notes?limit=0`], 404: [`${UNKNOWN}/notes`] },
  addNote: {
    201: [`${INCIDENT}/notes`, NOTE],
    400: [`${INCIDENT}/notes`, { body: '{', headers: { 'Content-Type': 'application/json' } }],
    404: [`${UNKNOWN}/notes`, NOTE],
    422: [`${INCIDENT}/notes`, { body: { text: ' ' } }],
  },
  deleteNote: { 204: ['/notes/1'], 404: ['/notes/x'] },
  listFeedback: { 200: [`${INCIDENT}/feedback`], 400: [`${INCIDENT}/feedback?limit=x`], 404: [`${UNKNOWN}/feedback`] },
  deleteFeedback: {
    204: [`${INCIDENT}/feedback/f0`],
    400: [`${INCIDENT}/feedback/f0?environment=`],
    404: [`${INCIDENT}/feedback/f0`],
  },
  exportIncidents: { 200: ['/export?occurrences=whole'], 400: ['/export?occurrences=all'] },
  exportIncident: {
    200: [`${INCIDENT}/export`],
    400: [`${INCIDENT}/export?limit=1`],
    404: [`${UNKNOWN}/export`],
  },
  find: { 200: [`/find?text=${DIGEST}`], 400: ['/find'], 404: ['/find?text=00000000'] },
  listBuilds: { 200: ['/builds'] },
  listNotifications: { 200: ['/notifications'], 400: ['/notifications?limit=0'] },
  testNotifications: { 200: ['/notifications/test'] },
  listRoutes: { 200: ['/routes'], 400: ['/routes?sort=size'] },
  deleteOccurrence: {
    204: [`/incidents/${THIRD}/occurrences/3M3KQ7XA`],
    400: [`/incidents/${THIRD}/occurrences/3M3KQ7XA?environment=`],
    404: [`/incidents/${THIRD}/occurrences/3M3KQ7XA`],
  },
  deleteIncident: {
    400: [`/incidents/${THIRD}`, { headers: { 'If-Match': 'x' } }],
    412: [`/incidents/${THIRD}`, { headers: { 'If-Match': '"999.abc"' } }],
    204: [`/incidents/${THIRD}`],
    404: [`/incidents/${THIRD}`],
  },
};

type Known = ApiDocument['operations'][number];

let api: TestDeskApi;
let operations: readonly Known[];

beforeAll(async () => {
  api = await start();
  // Operations that create data for others run first.
  const order = Object.keys(OWN);
  operations = api.document.operations.toSorted((left, right) => order.indexOf(left.id) - order.indexOf(right.id));
});

/** Builds a request that would succeed. Each test then breaks one thing about it. */
function toGood({ id, statuses }: Known): Asked {
  const status = Number(statuses.find((one) => one.startsWith('2')));
  const asked = OWN[id]?.[status];
  if (!asked) throw new Error(`Say in OWN how ${id} answers ${status}.`);
  return asked;
}

const listOf = (status: string) => operations.filter(({ statuses }) => statuses.includes(status));

/** Makes every call to the store fail with the given error. */
function failAll({ store }: TestDeskApi['site'], error: Error): void {
  for (const name of Object.keys(store)) {
    if (name !== 'isShared') Object.assign(store, { [name]: () => Promise.reject(error) });
  }
}

describe('the document', () => {
  it('is valid OpenAPI 3.1 according to a public validator', async () => {
    const { body } = await request(api.site.app).get('/api/desk/openapi.json');
    expect(body.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(body)).toMatchObject({ valid: true });
  });

  it('lists exactly the operations that are tested below', () => {
    expect(operations.map(({ id }) => id)).toEqual(Object.keys(OWN));
  });

  it('defines every name once and refers only to names that it defines', async () => {
    const { body, text } = await request(api.site.app).get('/api/desk/openapi.json');
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of new Set(refs)) {
      expect(body.components.schemas).toHaveProperty(ref.replace('#/components/schemas/', ''));
    }
    expect(text).not.toContain('$defs');
  });
});

describe('every answer matches the document', () => {
  it('for one operation only', async () => {
    for (const { id, method } of operations) {
      for (const [status, [path, options]] of toOrder(OWN[id])) {
        const reply = await api.ask(method, path, options);
        expect(`${id} ${reply.status} ${reply.text.slice(0, 200)}`).toMatch(`${id} ${status}`);
      }
    }
  });

  it('without a token, with a wrong token and with a viewer token', async () => {
    for (const known of listOf('401')) {
      const [path, options] = toGood(known);
      const reply = await api.ask(known.method, path, { ...options, token: '' });
      expect(reply.status, known.id).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="desk"');
    }
    for (const known of listOf('403')) {
      const [path, options] = toGood(known);
      expect((await api.ask(known.method, path, { ...options, token: VERA.token })).status, known.id).toBe(403);
    }
    expect(listOf('403').map(({ method }) => method)).not.toContain('get');
  });

  it('if the body is too large or not JSON', async () => {
    for (const known of listOf('413')) {
      const [path] = toGood(known);
      const large = { text: 'x'.repeat(200_000) };
      expect((await api.ask(known.method, path, { body: large })).status, known.id).toBe(413);
      const asText = { body: 'hello', headers: { 'Content-Type': 'text/plain' } };
      expect((await api.ask(known.method, path, asText)).status, known.id).toBe(415);
    }
  });

  it('if the caller has it already', async () => {
    const fresh = await start();
    for (const known of listOf('304')) {
      const [path] = toGood(known);
      const first = await fresh.calls.get(path);
      expect(first.status, known.id).toBe(200);
      const again = await fresh.calls.get(path, { headers: { 'If-None-Match': String(first.headers.etag) } });
      expect(again.status, known.id).toBe(304);
      expect(again.headers.etag).toBe(first.headers.etag);
      merge(fresh);
    }
  });

  it('after too many wrong tokens', async () => {
    const shut = await start();
    for (let index = 0; index < 5; index++) {
      const reply = await shut.get('/builds', { token: 'wrong' });
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
    }
    for (const known of listOf('429')) {
      const [path, options] = toGood(known);
      const reply = await shut.ask(known.method, path, options);
      expect(reply.status, known.id).toBe(429);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    merge(shut);
  });

  it('if there are no notification targets', async () => {
    const silent = await startDeskApi();
    expect((await silent.get('/notifications')).body).toEqual({ targets: [], waiting: [], waitingCount: 0, done: [] });
    expect((await silent.calls.post('/notifications/test')).status).toBe(409);
    merge(silent);
  });

  it.each([
    ['the store is unavailable', new StoreAwayError('It is away.'), 'is unavailable'],
    ['a query fails', new QueryFailedError('slow', 'canceling statement (57014)'), 'took too long'],
  ])('if %s', async (_what, error, words) => {
    const away = await start({ sendTestNotifications: () => Promise.reject(error) });
    failAll(away.site, error);
    for (const known of listOf('503')) {
      const [path, options] = toGood(known);
      const reply = await away.ask(known.method, path, options);
      expect(reply.status, known.id).toBe(503);
      expect(reply.body.detail).toContain(words);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect(reply.headers['cache-control']).toBe('no-store');
    }
    merge(away);
  });

  it('after an internal error', async () => {
    const error = new Error('canary secret');
    const broken = await start({ sendTestNotifications: () => Promise.reject(error) });
    failAll(broken.site, error);
    for (const known of listOf('401')) {
      const [path, options] = toGood(known);
      const reply = await broken.ask(known.method, path, options);
      expect(reply.status, known.id).toBe(500);
      expect(reply.body.instance).toMatch(/^\/desk\/\w{8}\/\w{8}$/);
      expect(reply.text).not.toContain('canary');
    }
    merge(broken);
  });

  it('and every promised answer was tested', () => {
    const promised = operations.flatMap(({ id, statuses }) => statuses.map((status) => `${id} ${status}`));
    expect(promised.filter((answer) => !seen.has(answer))).toEqual([]);
    expect(promised.length).toBeGreaterThan(100);
  });
});

const seen = new Set<string>();

function merge({ document }: TestDeskApi): void {
  for (const answer of [...document.seen, ...api.document.seen]) seen.add(answer);
}

/** Lists the answers in the order in which they are written. Objects would sort numeric keys. */
function toOrder(asks: Asks | undefined): [status: number, asked: Asked][] {
  const entries = Object.entries(asks ?? {}).map(([status, asked]): [number, Asked] => [Number(status), asked]);
  // Deletions run last, except for requests that expect nothing afterwards.
  return entries.sort(([left], [right]) => toRank(left) - toRank(right));
}

function toRank(status: number): number {
  if (status === 204) return 1;
  return status === 404 || status === 409 ? 2 : 0;
}
