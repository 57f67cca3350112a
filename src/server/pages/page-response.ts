import type { ServerResponse } from 'node:http';
import type { Response as ExpressResponse } from 'express';
import type { ComponentType } from 'react';
import type { DocumentProps, ErrorPages } from '../../shared/rendering/engine-context.ts';
import { toLocalLocation } from '../../shared/routing/control-flow.ts';
import type { RouteTree } from '../../shared/routing/route-objects.ts';
import type { PageModule } from '../../shared/routing/routes.ts';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { BUILD_HEADER } from '../../shared/wire/protocol.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { ContentPolicy } from '../front/content-policy.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';
import type { AppLog } from '../request/app-log.ts';
import { requestInfo } from '../request/request-info.ts';
import type { KeptPage, KeptShell, Redirect } from './kept.ts';
import type { MatchPage, PageMatch } from './match-page.ts';
import type { PageCache } from './page-cache.ts';
import type { PageRequest, VisitorPageRequest } from './page-request.ts';
import type { PageTable } from './server-page.ts';

/** One request that is answered with a page, its data or the result of an action. */
export interface PageExchange {
  readonly services: PageServices;
  readonly pageRequest: PageRequest;
  readonly response: ExpressResponse;
}

/** The same for one visitor, who can post a form. */
export interface VisitorExchange extends PageExchange {
  readonly pageRequest: VisitorPageRequest;
}

/** Shared by all stages of all pages. */
export interface PageServices {
  readonly tree: RouteTree;
  readonly matchPage: MatchPage;
  readonly pages: PageTable;
  readonly modules: ReadonlyMap<string, PageModule>;
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
  readonly lang: string;
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly log: AppLog;
  readonly policy: ContentPolicy;
  readonly cache: PageCache<KeptPage>;
  readonly shells: PageCache<KeptShell>;
  /** The origin of a static page's URL, which belongs to no request. */
  readonly sharedOrigin: string;
  /** All visitors use the host of `sharedOrigin`, so a static page can contain it. */
  readonly hasOneHost: boolean;
  /** Cached pages are also cached compressed. */
  readonly compresses: boolean;
  /** Browsers and proxies must not store any response. */
  readonly isSecret: boolean;
  readonly deadlineMs: number;
  /** Lets renders wait for each other; without it, each begins immediately. */
  readonly limiter: RenderLimiter | undefined;
  /** Reads the forms of actions. */
  readonly maxActionBytes: number;
}

/** `Allow` of a URL that can only be read. */
export const READ_METHODS = 'GET, HEAD, OPTIONS';

/** Returns the `Allow` of a page, which accepts posts if one of its routes has an action. */
export function toAllowed(services: PageServices, { ids }: PageMatch): string {
  return ids.some((id) => services.pages[id]?.actions) ? 'GET, HEAD, POST, OPTIONS' : READ_METHODS;
}

/** Sets the headers that every answer of the page engine has. */
export function setPageHeaders({ services, response }: Answer, cacheControl: string): void {
  response.setHeader(BUILD_HEADER, services.manifest.buildId);
  response.setHeader('Cache-Control', services.isSecret ? 'no-store' : cacheControl);
}

/** Redirects the visitor. `redirect()` has checked the location already, and it is checked again here. */
export function sendRedirect(answer: Answer, { status, location }: Pick<Redirect, 'status' | 'location'>): void {
  const { response } = answer;
  setPageHeaders(answer, 'no-store');
  response.statusCode = status;
  response.setHeader('Location', isAbsolute(location) ? location : toLocalLocation(location));
  response.end();
}

/** Sets the status and the digest of a failure, for the visitor and for the log. */
export function setStatus({ response }: Answer, status: number, digest: string | undefined): void {
  response.statusCode = status;
  if (!digest) return;
  requestInfo(response.req).digest = digest;
  response.setHeader('X-Error-Digest', digest);
}

/** What a response without a page request needs. */
export interface Answer {
  readonly services: PageServices;
  readonly response: ServerResponse;
}

/** Returns the address of the failure that a page shows. */
export function digestOf(errors: PagePayload['errors'] = {}): string | undefined {
  return Object.values(errors).find((error) => error.digest)?.digest;
}

export function isAbsolute(location: string): boolean {
  return /^https?:\/\//i.test(location);
}
