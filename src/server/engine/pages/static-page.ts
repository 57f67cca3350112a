import { hash } from 'node:crypto';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { loadPage } from './load-page.ts';
import type { PageMatch } from './match-page.ts';
import { type PageHouse, setPageHeaders } from './page-house.ts';
import type { PageTarget } from './page-sink.ts';
import { createPayload, matchesEtag, toEtag } from './payload.ts';
import { renderDocument, writeDocument } from './show-page.ts';
import type { KeptPage } from './static-cache.ts';
import type { Visit } from './visit.ts';

/** The part of a search that belongs to a static page, in one order, whatever the visitor wrote. */
export function toSharedSearch(match: PageMatch, search: string): string {
  if (match.searchKeys.length === 0 || search === '') return '';
  const asked = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const key of [...match.searchKeys].sort()) {
    for (const value of asked.getAll(key)) kept.append(key, value);
  }
  const text = kept.toString();
  return text && `?${text}`;
}

/** The page out of memory, or rendered for everyone; undefined where it cannot be kept because it failed. */
export function getKeptPage(house: PageHouse, visit: Visit): Promise<KeptPage | undefined> {
  return house.cache.get(visit.path + visit.search, () => renderKeptPage(house, visit));
}

async function renderKeptPage(house: PageHouse, visit: Visit): Promise<KeptPage | undefined> {
  const loaded = await loadPage({ visit, pages: house.pages, funnel: house.funnel });
  if (loaded.kind !== 'page' || loaded.errors) return undefined;
  const payload = createPayload(house.manifest, visit.match, loaded);
  const target = new MemoryTarget();
  const ended = Promise.withResolvers<void>();
  let head: string | undefined;
  const rendered = await renderDocument(house, visit, payload, {
    whole: true,
    onReady(page) {
      if (page.error) page.settle();
      else head = writeDocument(house, visit, page, target, undefined, ended.resolve);
    },
  });
  if (rendered.kind !== 'page' || head === undefined) return undefined;
  await ended.promise;
  const html = target.bytes;
  return { html, etag: `"${hash('sha1', html, 'base64url')}"`, data: head, dataEtag: toEtag(house.manifest, head) };
}

class MemoryTarget implements PageTarget {
  readonly #parts: Buffer[] = [];
  readonly destroyed = false;

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  write(bytes: Buffer): boolean {
    this.#parts.push(bytes);
    return true;
  }

  end(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  on(): this {
    return this;
  }

  destroy(error?: Error): void {
    throw error ?? new VisitorGone();
  }
}

/** A constant policy and a strong validator: such a page can be kept by whoever wants to. */
export function sendKeptPage(
  house: PageHouse,
  page: KeptPage,
  request: ExpressRequest,
  response: ExpressResponse,
): void {
  setPageHeaders(response, house, 'public, no-cache');
  response.setHeader('ETag', page.etag);
  response.setHeader('Content-Security-Policy', house.policy.forStatic());
  response.setHeader('Content-Security-Policy-Report-Only', house.policy.reportOnly());
  if (matchesEtag(request.headers['if-none-match'], page.etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Length', page.html.length);
  if (request.method === 'HEAD') response.end();
  else response.end(page.html);
}
