import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { CHANGES, READS } from '../../../../src/server/desk/worker/desk-calls.ts';
import type { ApiDocument } from '../../../support/api-document.ts';
import { type AskOptions, fullWithSource, startDeskApi, type TestDeskApi } from '../../../support/desk-api.ts';
import type { DeskSiteOptions } from '../../../support/desk-site.ts';
import { VERA } from '../../../support/people.ts';
import { ingest, summaryOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const OTHER = '2M3KQ7XA';
const INCIDENT = `/incidents/${DIGEST}`;

/** @param calls replace calls of the desk worker */
async function start(calls?: DeskSiteOptions['calls']): Promise<TestDeskApi> {
  const api = await startDeskApi({ ...(calls && { calls }) });
  await ingest(api.site.store, fullWithSource(), summaryOf({ digest: OTHER, occurrence: '3M3KQ7XA' }));
  return api;
}

type Asked = readonly [path: string, options?: AskOptions];
type Asks = readonly (readonly [status: number, ...asked: Asked])[];

const UNKNOWN = '/incidents/00000000';
const STALE = { headers: { 'If-Match': '"999.abc"' } };
const NO_TAG = { headers: { 'If-Match': 'no tag' } };
const OPEN = { body: { status: { state: 'open' } } };

/** Requests that produce the answers that only one operation has, in the order in which they run. */
const OWN: Readonly<Record<string, Asks>> = {
  getOpenApi: [[200, '/openapi.json']],
  listIncidents: [
    [200, '/incidents'],
    [400, '/incidents?state=gone'],
  ],
  getIncident: [
    [200, INCIDENT],
    [400, `${INCIDENT}?environment=`],
    [404, UNKNOWN],
  ],
  changeIncident: [
    [200, INCIDENT, { body: { status: { state: 'ignored', untilMore: 10 } } }],
    [400, INCIDENT, { ...OPEN, ...NO_TAG }],
    [404, UNKNOWN, OPEN],
    [412, INCIDENT, { ...OPEN, ...STALE }],
    [422, INCIDENT, { body: { status: { state: 'gone' } } }],
  ],
  listOccurrences: [
    [200, `${INCIDENT}/occurrences`],
    [400, `${INCIDENT}/occurrences?after=x`],
    [404, `${UNKNOWN}/occurrences`],
  ],
  deleteOccurrence: [
    [400, `/incidents/${OTHER}/occurrences/3M3KQ7XA?environment=`],
    [204, `/incidents/${OTHER}/occurrences/3M3KQ7XA`],
    [404, `/incidents/${OTHER}/occurrences/3M3KQ7XA`],
  ],
  deleteIncident: [
    [400, `/incidents/${OTHER}`, NO_TAG],
    [412, `/incidents/${OTHER}`, STALE],
    [204, `/incidents/${OTHER}`],
    [404, `/incidents/${OTHER}`],
  ],
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

/** Returns a request that would succeed. Each test then breaks one thing about it. */
function toGood({ id }: Known): Asked {
  const found = OWN[id]?.find(([status]) => status < 300);
  if (!found) throw new Error(`Say in OWN how ${id} succeeds.`);
  const [, ...asked] = found;
  return asked;
}

const listOf = (status: string) => operations.filter(({ statuses }) => statuses.includes(status));

/** All calls that operations make. */
const failing = (error: Error) => {
  const fail = () => Promise.reject(error);
  return Object.fromEntries(CALLS.map((name) => [name, fail])) as DeskSiteOptions['calls'];
};

const CALLS = [...READS, ...CHANGES, 'find', 'resolveQuery', 'readChanges', 'settle'];

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
    expect(refs.length).toBeGreaterThan(30);
    for (const ref of new Set(refs)) {
      expect(body.components.schemas).toHaveProperty(ref.replace('#/components/schemas/', ''));
    }
    expect(text).not.toContain('$defs');
  });
});

describe('every answer matches the document', () => {
  it('for one operation only', async () => {
    for (const { id, method } of operations) {
      for (const [status, path, options] of OWN[id] ?? []) {
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
      const first = await fresh.get(path);
      expect(first.status, known.id).toBe(200);
      const again = await fresh.get(path, { headers: { 'If-None-Match': String(first.headers.etag) } });
      expect(again.status, known.id).toBe(304);
      expect(again.headers.etag).toBe(first.headers.etag);
      merge(fresh);
    }
  });

  it('after too many wrong tokens', async () => {
    const shut = await start();
    for (let index = 0; index < 5; index++) {
      const reply = await shut.get('/incidents', { token: 'wrong' });
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

  it.each([
    ['the store is unavailable', new StoreAwayError('It is away.'), 'is unavailable'],
    ['a query fails', new QueryFailedError('slow', 'canceling statement (57014)'), 'took too long'],
  ])('if %s', async (_what, error, words) => {
    const away = await startDeskApi({ calls: failing(error) });
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
    const broken = await startDeskApi({ calls: failing(new Error('canary secret')) });
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
    expect(promised.length).toBeGreaterThan(40);
  });
});

const seen = new Set<string>();

function merge({ document }: TestDeskApi): void {
  for (const answer of [...document.seen, ...api.document.seen]) seen.add(answer);
}
