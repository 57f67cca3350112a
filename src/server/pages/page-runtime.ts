import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { ErrorPages } from '../../shared/rendering/engine-context.ts';
import type { DocumentComponent } from '../../shared/rendering/language.ts';
import type { RouteTree } from '../../shared/routing/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../shared/routing/routes.ts';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { ContentPolicy } from '../front/content-policy.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';
import type { AppLog } from '../request/app-log.ts';
import type { Origins } from '../request/origins.ts';
import type { TracedProject } from '../request/trace-headers.ts';
import type { MatchPage } from './match-page.ts';
import type { CachedShell, CachedStaticPage, PageCache } from './page-cache.ts';
import type { LoaderArgsMaker } from './page-request.ts';
import type { LoaderContext, PageTable } from './server-page.ts';

/** An app of pages: the product's, or the desk's. */
export interface PageApp<Own extends object = object, Shared extends object = object> {
  readonly routes: readonly RouteDefinition[];
  /** The server files, by route id. */
  readonly pages: PageTable<LoaderContext & NoInfer<Own & Shared>>;
  readonly document: DocumentComponent;
  readonly errorPages: ErrorPages;
  /** Returns what the app adds to the `context` of loaders, guards and actions. */
  readonly createContext?:
    | ((parts: Shared & { readonly request: ExpressRequest; readonly response: ExpressResponse }) => Own | Promise<Own>)
    | undefined;
  /** More of it, which is the same for everyone, such as settings. Static pages and shells can read it. */
  readonly sharedContext?: Shared;
  /** The folder of the tables, for error messages. Default: `product`. */
  readonly family?: string;
  /** The path that all pages and their data share (`/admin`). Default: none. */
  readonly base?: string;
}

/** What the server lends to its pages. */
export interface PageServer {
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly log: AppLog;
  readonly policy: ContentPolicy;
  readonly origins: Origins;
  /** The origins to which `context.fetch` sends trace headers, and the project that these name. By default none. */
  readonly traces?: { readonly targets: readonly string[]; readonly project: TracedProject } | undefined;
  /** Names what answers a path before the pages, so that no page can have it. By default nothing does. */
  readonly findTaker?: (path: string) => string | undefined;
  /** Limits renders and counts pages in progress; undefined for no limit. */
  readonly limiter: RenderLimiter | undefined;
}

export interface PageSettings {
  /** All responses are `no-store`. Open pages still check their data by `ETag`. */
  readonly isSecret: boolean;
  /** Keep compressed copies of static pages. */
  readonly compression: boolean;
  /** How long a page can take, up to its last deferred value (ms). */
  readonly deadlineMs: number;
  /** Largest form (bytes). */
  readonly maxActionBytes: number;
}

export interface PagesOptions<Own extends object = object, Shared extends object = object> {
  readonly app: PageApp<Own, Shared>;
  readonly server: PageServer;
  readonly settings: Pick<PageSettings, 'isSecret'> & Partial<PageSettings>;
}

/** An app whose modules are loaded. */
export interface LoadedPageApp extends Pick<PageApp, 'document' | 'errorPages'> {
  readonly tree: RouteTree;
  readonly matchPage: MatchPage;
  readonly pages: PageTable;
  readonly modules: ReadonlyMap<string, PageModule>;
  /** Makes what guards, loaders and actions get. */
  readonly args: LoaderArgsMaker;
  readonly settings: PageSettings;
}

/** An app of pages as it runs: shared by all stages of all its pages. */
export interface PageRuntime {
  readonly app: LoadedPageApp;
  readonly server: PageServer;
  readonly caches: {
    readonly static: PageCache<CachedStaticPage>;
    readonly shells: PageCache<CachedShell>;
  };
}
