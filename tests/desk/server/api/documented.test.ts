import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { expect, it } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import type { DeskCalls } from '../../../../src/desk/server/worker/desk-calls.ts';
import { VERA } from '../../../support/people.ts';
import { type AskOptions, fullWithSource, startDeskApi } from '../../support/desk-api.ts';
import { ingest, summaryOf } from '../../support/stores.ts';

const INCIDENT = '/incidents/7K3QM2XA';
const OTHER = '/incidents/2M3KQ7XA';
const UNKNOWN = '/incidents/00000000';
const OCCURRENCE = `${OTHER}/occurrences/3M3KQ7XA`;
const STALE = { headers: { 'If-Match': '"999.abc"' } };
const OPEN = { body: { status: { state: 'open' } } };
const NOTE = { body: { text: 'The migration did not run.' } };

type Asked = readonly [method: string, path: string, options?: AskOptions];

/** Each operation, in an order in which all of them succeed. */
const GOOD: readonly Asked[] = [
  ['get', '/incidents'],
  ['get', INCIDENT],
  ['get', `${INCIDENT}/occurrences`],
  ['patch', INCIDENT, OPEN],
  ['post', `${INCIDENT}/notes`, NOTE],
  ['delete', OCCURRENCE],
  ['delete', OTHER],
];
const BAD: readonly (readonly [status: number, ...Asked])[] = [
  [400, 'get', '/incidents?state=gone'],
  [404, 'get', UNKNOWN],
  [404, 'patch', UNKNOWN, OPEN],
  [412, 'patch', INCIDENT, { ...OPEN, ...STALE }],
  [422, 'patch', INCIDENT, { body: { status: { state: 'gone' } } }],
  [422, 'patch', INCIDENT, { body: { status: { state: 'ignored', until: 1 } } }],
  [422, 'patch', INCIDENT, { body: { ...OPEN.body, x: 1 } }],
  [413, 'patch', INCIDENT, { body: { text: 'x'.repeat(200_000) } }],
  [415, 'patch', INCIDENT, { body: 'hello', headers: { 'Content-Type': 'text/plain' } }],
  [404, 'post', `${UNKNOWN}/notes`, NOTE],
  [422, 'post', `${INCIDENT}/notes`, { body: { text: ' ' } }],
  [422, 'post', `${INCIDENT}/notes`, { body: { text: 'x'.repeat(4097) } }],
  [400, 'get', `${INCIDENT}/occurrences?after=x`],
  [400, 'delete', `${OCCURRENCE}?environment=`],
  [404, 'delete', `${UNKNOWN}/occurrences/3M3KQ7XA`],
  [412, 'delete', OTHER, STALE],
];

/** The calls of the operations to the desk worker. */
const CALLS: readonly (keyof DeskCalls)[] = [
  ...(['find', 'readDetails', 'readDeletion', 'readChanges', 'listEnvironments'] as const),
  ...(['listIncidents', 'countStates', 'listOccurrences'] as const),
  ...(['changeState', 'addNote', 'deleteIncident', 'deleteOccurrence'] as const),
];

async function start() {
  const api = await startDeskApi({}, true);
  const other = summaryOf({ digest: '2M3KQ7XA', occurrence: '3M3KQ7XA' });
  await ingest(api.site.store, fullWithSource(), other);
  return api;
}

it('the document is valid OpenAPI 3.1 according to a public validator, and refers only to names that it defines', async () => {
  const { site } = await start();
  const { body, text } = await request(site.app).get('/api/desk/openapi.json');
  expect(body.openapi).toMatch(/^3\.1\./);
  expect(await new Validator().validate(body)).toMatchObject({ valid: true });
  const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
  expect(refs.length).toBeGreaterThan(30);
  for (const ref of new Set(refs)) {
    expect(body.components.schemas).toHaveProperty(ref.replace('#/components/schemas/', ''));
  }
  expect(text).not.toContain('$defs');
});

it('every operation answers as documented', async () => {
  const { ask, document } = await start();
  for (const [status, ...asked] of BAD) expect([status, (await ask(...asked)).status]).toEqual([status, status]);
  for (const asked of GOOD) expect((await ask(...asked)).status, String(asked)).toBeLessThan(300);
  const tested = new Set([...document.seen].map((answer) => answer.split(' ')[0]));
  expect(document.operations.filter(({ id }) => !tested.has(id)).map(({ id }) => id)).toEqual(['getOpenApi']);
});

it('every operation needs a token, and every change one of an operator', async () => {
  const { ask } = await start();
  for (const [method, path, options] of GOOD) {
    const reply = await ask(method, path, { ...options, token: '' });
    expect([path, reply.status, reply.headers['www-authenticate']]).toEqual([path, 401, 'Bearer realm="desk"']);
    const { status, headers } = await ask(method, path, { ...options, token: VERA.token });
    expect([path, status]).toEqual([path, method === 'get' ? 200 : 403]);
    if (method !== 'get') expect(headers['www-authenticate']).toContain('error="insufficient_scope"');
  }
});

it.each([
  ['the store is unavailable', new StoreAwayError('canary'), 503, 'is unavailable'],
  ['a query takes too long', new QueryFailedError('slow', 'canary (57014)'), 503, 'took too long'],
  ['something else fails', new Error('canary'), 500, ''],
])('every operation answers if %s', async (_what, error, expected, words) => {
  const fail = () => Promise.reject(error);
  const { ask } = await startDeskApi({ calls: Object.fromEntries(CALLS.map((name) => [name, fail])) });
  for (const [method, path, options] of GOOD) {
    const { status, body, text, headers } = await ask(method, path, options);
    expect([path, status]).toEqual([path, expected]);
    expect(text).not.toContain('canary');
    if (expected === 500) expect(body.instance).toMatch(/^\/desk\/\w{8}\/\w{8}$/);
    else {
      expect(body.detail).toContain(words);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['cache-control']).toBe('no-store');
    }
  }
});
