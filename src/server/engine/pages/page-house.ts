import type { Response as ExpressResponse } from 'express';
import type { ComponentType } from 'react';
import type { DocumentProps } from '../../../shared/engine/rendering/document.ts';
import type { ErrorPages } from '../../../shared/engine/rendering/engine-context.ts';
import { toLocalLocation } from '../../../shared/engine/routing/outcome.ts';
import type { RouteTree } from '../../../shared/engine/routing/route-objects.ts';
import type { PageModule } from '../../../shared/engine/routing/routes.ts';
import type { AssetManifest } from '../../../shared/engine/wire/manifest.ts';
import { BUILD_HEADER } from '../../../shared/engine/wire/protocol.ts';
import type { BodyReader } from '../api/body-reader.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { ContentPolicy } from '../protection/content-policy.ts';
import type { RenderLimiter } from '../protection/render-limiter.ts';
import type { PageTable } from './load-page.ts';
import type { MatchPage, PageMatch } from './match-page.ts';
import type { StaticCache } from './static-cache.ts';

/** What all stages of all pages share. */
export interface PageHouse {
  readonly tree: RouteTree;
  readonly matchPage: MatchPage;
  readonly pages: PageTable;
  readonly modules: ReadonlyMap<string, PageModule>;
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
  readonly lang: string;
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly policy: ContentPolicy;
  readonly cache: StaticCache;
  /** Stands in a static page's URL: it belongs to no request. */
  readonly sharedOrigin: string;
  /** Every visitor asks the host of `sharedOrigin`: a static page may name it. */
  readonly hasOneHost: boolean;
  /** Whether kept pages are kept compressed too. */
  readonly compresses: boolean;
  /** Visitors may say something of a failure. */
  readonly takesFeedback: boolean;
  /** No browser and no proxy may keep any of it. */
  readonly isSecret: boolean;
  readonly deadlineMs: number;
  /** Where renders wait for each other; without it each begins at once. */
  readonly limiter: RenderLimiter | undefined;
  /** Reads the forms that actions take. */
  readonly bodies: BodyReader;
  readonly maxActionBytes: number;
}

/** `Allow` of what can only be read. */
export const READ_METHODS = 'GET, HEAD, OPTIONS';

/** `Allow` of a page, which takes posts where one of its routes has an action. */
export function toAllowed(house: PageHouse, { ids }: PageMatch): string {
  return ids.some((id) => house.pages[id]?.actions) ? 'GET, HEAD, POST, OPTIONS' : READ_METHODS;
}

/** Headers that every answer of the page engine has. */
export function setPageHeaders(response: ExpressResponse, house: PageHouse, cacheControl: string): void {
  response.setHeader(BUILD_HEADER, house.manifest.buildId);
  response.setHeader('Cache-Control', house.isSecret ? 'no-store' : cacheControl);
}

/** Sends the visitor elsewhere. The location was checked by `redirect()`; it is checked again on the way out. */
export function sendRedirect(response: ExpressResponse, house: PageHouse, status: number, location: string): void {
  setPageHeaders(response, house, 'no-store');
  response.statusCode = status;
  response.setHeader('Location', isAbsolute(location) ? location : toLocalLocation(location));
  response.end();
}

export function isAbsolute(location: string): boolean {
  return /^https?:\/\//i.test(location);
}
