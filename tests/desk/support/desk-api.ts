import request from 'supertest';
import { expect } from 'vitest';
import { toNewOccurrence } from '../../../src/desk/server/store/ingest/batch.ts';
import type { StoredFailure } from '../../../src/desk/server/store/records.ts';
import { type ApiDocument, readApiDocument } from '../../support/api-document.ts';
import { ADA } from '../../support/people.ts';
import { createFailure } from './desk.ts';
import { type DeskSiteOptions, startDeskSite } from './desk-site.ts';

export interface AskOptions {
  /** Defaults to the operator's token. Empty: no token. */
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Compiled once, because that takes half a second. */
let shared: ApiDocument | undefined;

/**
 * Starts the desk's API on an in-memory store. Every response is checked against the API's own OpenAPI document.
 *
 * @param ownDocument whether `document.seen` has only the responses of this API
 */
export async function startDeskApi(options: DeskSiteOptions = {}, ownDocument = false) {
  const site = await startDeskSite(options);
  const described = await request(site.app).get('/api/desk/openapi.json');
  if (ownDocument || !shared) shared = readApiDocument(described.body);
  const document = shared;

  async function ask(method: string, path: string, { token = ADA.token, body, headers = {} }: AskOptions = {}) {
    const asked = request(site.app)[method as 'get'](`/api/desk${path}`);
    if (token !== '') asked.set('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) asked.set(name, value);
    const reply = await (body === undefined ? asked : asked.send(body as object));
    expect(document.complain(method, `/api/desk${path}`, reply), `${method} ${path}: ${reply.text}`).toEqual([]);
    return reply;
  }
  return { site, document, ask, get: (path: string, options?: AskOptions) => ask('get', path, options) };
}

const SOURCE = ['function loadCart(cart) {', '  return cart.order.total; // here', '}'];

/** A full failure as the desk worker prepares it, with a line of source. */
export function fullWithSource(wanted: Partial<StoredFailure> = {}) {
  const frame = { file: 'server/main.js', line: 1, column: 200, function: 'a' };
  const place = { file: 'src/server/product/pages/cart.ts', line: 2, column: 21 };
  const failure: StoredFailure = {
    ...createFailure({
      occurrence: '9F4W0R6B',
      errors: [{ class: 'TypeError', message: 'boom', frames: [frame] }],
      location: { path: place.file, function: 'loadCart', detail: 'return cart.order.total' },
      request: { method: 'GET', url: '/orders/7', headers: { Referer: '/orders', 'User-Agent': 'curl/8.4.0' } },
      breadcrumbs: [{ at: Date.now(), category: 'fetch', message: 'GET /carts/7', data: { status: 200 } }],
      level: 'warning',
      tags: { plan: 'business' },
    }),
    resolved: [[{ ...place, function: 'loadCart', own: true, context: { start: 1, lines: SOURCE } }]],
    ...wanted,
  };
  return toNewOccurrence(failure);
}

/** A failure in which every text of a visitor, and many others, are this one. */
export function fullOfStranger(text: string) {
  const source = { start: 1, lines: [text, text] };
  const frame = { file: text, line: 2, column: 1, function: text, own: true };
  return fullWithSource({
    title: text,
    errors: [{ class: text, message: text, code: text, members: [text], frames: [] }],
    resolved: [[{ ...frame, context: source }]],
    location: { path: text, function: text, detail: text },
    ...{ route: text, requestId: text, traceId: text, spanId: text, visitor: text, release: text, build: text },
    request: { method: text, url: text, headers: { [text]: text, referer: text, 'user-agent': `${text}bot/1` } },
    components: [frame],
    breadcrumbs: [{ at: Date.now(), category: text, message: text, data: { [text]: text } }],
    tags: { [text]: text },
    extra: { [text]: { deep: text } },
    cut: [text],
  });
}
