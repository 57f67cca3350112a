import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Config } from '../config.ts';
import type { ApiOrigins } from './api/api-origins.ts';
import type { Upgrades } from './connection/upgrades.ts';
import type { FailureContext } from './errors/create-failure.ts';
import type { ExistingApp } from './existing-app.ts';
import type { EngineContext, PageTable } from './pages/server-page.ts';
import type { ContentSources } from './protection/content-policy.ts';
import type { Environment, SettingsTable, SettingsValues } from './settings.ts';
import { readSettings } from './settings.ts';

/** What API, steps, routes and WebSockets of a product are made with. */
export interface ProductParts<Settings, Services = undefined> {
  readonly settings: Settings;
  /** What `services.open` returned. */
  readonly services: Services;
}

/** What loaders, actions and guards get as `context`, beside what the product adds. */
export type ProductContext<Settings, Services = undefined> = EngineContext & ProductParts<Settings, Services>;

/** What a product adds to the context of one visit is made from this. */
export type ContextParts<Settings, Services = undefined> = ProductParts<Settings, Services> & {
  readonly request: Request;
  readonly response: Response;
};

export interface ProductSettings<Settings> {
  readonly table: SettingsTable;
  /** @throws ConfigError with a sentence for each wrong value */
  readonly read: (env: Environment, config: Config) => Settings;
}

/** The type of the settings that `defineSettings` describes. */
export type SettingsOf<Defined> = Defined extends ProductSettings<infer Settings> ? Settings : never;

export interface ProductServices<Settings, Services> {
  /** Runs once, before the server listens. If it fails, the server does not start, and its message says why. */
  readonly open: (settings: Settings) => Services | Promise<Services>;
  /** Runs once, when the last request is answered. It has 3 s. */
  readonly close?: (services: Services) => void | Promise<void>;
}

/** A product's side of the server. Everything but `settings` and `pages` is optional. */
export interface Product<Settings, Services = undefined, Own extends object = object> {
  readonly settings: ProductSettings<Settings>;
  /** What is opened at the start: a database pool, a mailer. */
  readonly services?: ProductServices<NoInfer<Settings>, Services>;
  /** Runs once a visit; what it returns is added to `context`. Static pages do not get it. */
  readonly context?: (parts: ContextParts<NoInfer<Settings>, NoInfer<Services>>) => Own | Promise<Own>;
  /** The server halves of the pages, by route id. */
  readonly pages: PageTable<ProductContext<NoInfer<Settings>, NoInfer<Services>> & NoInfer<Own>>;
  /** Everything under `/api`. */
  readonly api?: (parts: ProductParts<NoInfer<Settings>, NoInfer<Services>>) => RequestHandler;
  /**
   * What happens to each request before pages and API see it, in order: `[session(…), signIn()]`. A list and not a
   * `Router`, because leaving one costs every request a turn of the event loop.
   */
  readonly steps?: (parts: ProductParts<NoInfer<Settings>, NoInfer<Services>>) => readonly RequestHandler[];
  /** What is neither a page nor under `/api`: `Router().get('/sitemap.xml', …)`. */
  readonly routes?: (parts: ProductParts<NoInfer<Settings>, NoInfer<Services>>) => RequestHandler;
  /** WebSockets, by exact path: `{ '/live': (request, socket, head) => … }`. */
  readonly upgrades?: (parts: ProductParts<NoInfer<Settings>, NoInfer<Services>>) => Upgrades;
  /** An Express 4 or 5 app that was there before, such as `'./legacy/app.js'`. It gets what nothing above claims. */
  readonly existingApp?: ExistingApp;
  /** Sources beyond this site that pages may use: `{ image: ['https://images.example'] }`. */
  readonly contentSources?: ContentSources;
  /** Other origins whose scripts may call `/api`: `['https://app.example.com']`. */
  readonly apiOrigins?: ApiOrigins;
  /** How failures are told apart, and whom they concern. */
  readonly reporting?: ProductReporting;
}

/** What a product says about failures. */
export interface ProductReporting {
  /**
   * Keeps failures at one place apart on purpose: by tenant, by a provider's code. Return few, bounded words. What it
   * throws counts as no words.
   */
  readonly splitBy?: (error: unknown, context: FailureContext) => readonly string[];
  /**
   * For whom something failed: an id of your own that stays the same, so that whoever is signed in counts once from
   * whichever address. A hash of it is kept. Called when something has failed, at most once a request, and not waited
   * for. For a browser's report it gets the request before your steps run: go by its cookies.
   */
  readonly visitorId?: (request: IncomingMessage) => string | undefined;
  /** False: visitors are not asked what they were doing. Take `FailureHelp` out of `error-pages.tsx` too. */
  readonly feedback?: boolean;
}

/**
 * Describes settings from the environment. `.env.example` lists them, and `npm run doctor` checks them.
 *
 * @param toSettings makes what the product gets from the parsed values; by default it gets the values themselves
 */
export function defineSettings<const Table extends SettingsTable, Settings = SettingsValues<Table>>(
  table: Table,
  toSettings?: (values: SettingsValues<Table>, config: Config) => Settings,
): ProductSettings<Settings> {
  return {
    table,
    read(env, config) {
      const values = readSettings(table, env);
      return toSettings ? toSettings(values, config) : (values as Settings); // the default of its type
    },
  };
}

/** Puts a product together. The compiler says where the parts do not fit. */
export function defineProduct<Settings, Services = undefined, Own extends object = object>(
  product: Product<Settings, Services, Own>,
): Product<Settings, Services, Own> {
  return product;
}
