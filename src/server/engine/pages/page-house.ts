import type { Response as ExpressResponse } from 'express';
import type { ComponentType } from 'react';
import type { DocumentProps } from '../../../shared/engine/document.ts';
import type { ErrorPages } from '../../../shared/engine/engine-context.ts';
import type { AssetManifest } from '../../../shared/engine/manifest.ts';
import { toLocalLocation } from '../../../shared/engine/outcome.ts';
import { BUILD_HEADER } from '../../../shared/engine/protocol.ts';
import type { RouteTree } from '../../../shared/engine/route-objects.ts';
import type { PageModule } from '../../../shared/engine/routes.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { ContentPolicy } from '../http/content-policy.ts';
import type { PageTable } from './load-page.ts';
import type { MatchPage } from './match-page.ts';
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
  readonly deadlineMs: number;
  readonly maxActionBytes: number;
}

/** Headers that every answer of the page engine has. */
export function setPageHeaders(response: ExpressResponse, house: PageHouse, cacheControl: string): void {
  response.setHeader(BUILD_HEADER, house.manifest.buildId);
  response.setHeader('Cache-Control', cacheControl);
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
