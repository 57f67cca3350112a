import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { ApiStore } from './api/api-store.ts';
import type { ApiParts } from './api/mount-api.ts';
import type { DocumentFacts } from './api/openapi.ts';
import type { Config } from './config.ts';
import type { FailureContext } from './errors/create-failure.ts';
import { PRODUCT_FILE, WiringError } from './errors/wiring-error.ts';
import { type ApiOrigins, isOrigin } from './front/api-origins.ts';
import type { ContentSources } from './front/content-policy.ts';
import type { ExistingApp } from './front/existing-app.ts';
import type { Upgrades } from './front/upgrades.ts';
import type { LoaderContext, PageTable } from './pages/server-page.ts';
import type { AppLog } from './request/app-log.ts';
import { type Environment, readSettings, type SettingsTable, type SettingsValues } from './settings.ts';

/** The arguments of a product's API, steps, routes and WebSockets. */
export interface ProductParts<Settings, Services = undefined> {
  readonly settings: Settings;
  /** The result of `services.open`. */
  readonly services: Services;
}

/** The `context` of loaders, actions and guards, without the product's additions. */
export type ProductContext<Settings, Services = undefined> = LoaderContext & ProductParts<Settings, Services>;

/** The input for the product's additions to the context of one page request. */
export type ContextParts<Settings, Services = undefined> = ProductParts<Settings, Services> & {
  readonly request: Request;
  readonly response: Response;
};

export interface ProductSettings<Settings> {
  readonly table: SettingsTable;
  /** @throws ConfigError with a sentence for each wrong value */
  readonly read: (env: Environment, config: Config) => Settings;
  readonly listWarnings?: ((env: Environment) => readonly string[]) | undefined;
}

/** The type of the settings that `defineSettings` describes. */
export type SettingsOf<Defined> = Defined extends ProductSettings<infer Settings> ? Settings : never;

/** What services get besides the settings. */
export interface ServiceTools {
  /** Also for what they do for a request: `context.log` is the same. */
  readonly log: AppLog;
}

export interface ProductServices<Settings, Services> {
  /** Runs once, before the server listens. If it fails, the server does not start, and its message says why. */
  readonly open: (settings: Settings, tools: ServiceTools) => Services | Promise<Services>;
  /** Runs once, after the last request is answered. It has 3 s. */
  readonly close?: (services: Services) => void | Promise<void>;
}

/** The parts of a product that do not decide their types: those follow from `settings` and `services`. */
type Given<Settings, Services> = ProductParts<NoInfer<Settings>, NoInfer<Services>>;

/** A product's side of the server. Everything but `settings` and `pages` is optional. */
export interface Product<Settings, Services = undefined, Own extends object = object> {
  readonly settings: ProductSettings<Settings>;
  /** Opened at the start, such as a database pool or a mailer. */
  readonly services?: ProductServices<NoInfer<Settings>, Services>;
  /** Runs once per page request, and again after an action. Its result is added to `context`, except on static pages. */
  readonly context?: (parts: ContextParts<NoInfer<Settings>, NoInfer<Services>>) => Own | Promise<Own>;
  /** The server files of the pages, by route id. */
  readonly pages: PageTable<ProductContext<NoInfer<Settings>, NoInfer<Services>> & NoInfer<Own>>;
  /** Everything under `/api`: parts made by `implement()`, and Express handlers. */
  readonly api?: (parts: Given<Settings, Services>) => ApiParts;
  /** Where limits and `Idempotency-Key` are kept. By default in memory: replicas need `createPostgresStore()`. */
  readonly apiStore?: (parts: Given<Settings, Services>) => ApiStore;
  /** What `/api/openapi.json` and `/api/docs` say, and who can read them. False: they are not served. */
  readonly apiDocument?: DocumentFacts | false;
  /**
   * Steps that run before pages and API for each request, in order: `[session(…), signIn()]`. A list and not a
   * `Router`, because leaving a router costs every request a turn of the event loop.
   */
  readonly steps?: (parts: Given<Settings, Services>) => readonly RequestHandler[];
  /** Handles URLs that are neither a page nor under `/api`: `Router().get('/sitemap.xml', …)`. */
  readonly routes?: (parts: Given<Settings, Services>) => RequestHandler;
  /** WebSockets, by exact path: `{ '/live': (request, socket, head) => … }`. */
  readonly upgrades?: (parts: Given<Settings, Services>) => Upgrades;
  /** An existing Express 4 or 5 app, such as `'./legacy/app.js'`. It gets every request that nothing above handles. */
  readonly existingApp?: ExistingApp;
  /** Sources beyond this site that pages can use: `{ image: ['https://images.example'] }`. */
  readonly contentSources?: ContentSources;
  /** Other origins whose scripts can call `/api`: `['https://app.example.com']`. */
  readonly apiOrigins?: ApiOrigins;
  /** How failures are grouped, which visitor they belong to, and which posted values are kept. */
  readonly reporting?: ProductReporting;
}

/** A product's options for failures. */
export interface ProductReporting {
  /**
   * Keeps failures at one place apart, for example by tenant or by a provider's code. Return few, bounded words. If it
   * throws, no words are added.
   */
  readonly splitBy?: (error: unknown, context: FailureContext) => readonly string[];
  /**
   * Identifies the visitor of a failed request. Return your own stable id, so that a signed-in visitor counts once from
   * any address. Only a hash of it is stored. Called when something has failed, at most once per request, and not
   * awaited. For a browser's report it gets the request before your steps run, so read its cookies.
   */
  readonly visitorId?: (request: IncomingMessage) => string | undefined;
  /**
   * Names of posted fields whose values are stored with a failure: `['quantity', 'currency']`. Of other fields, only
   * name and type are stored. Name none that can identify a visitor.
   */
  readonly keep?: readonly string[];
}

/**
 * Describes settings from the environment. `.env.example` lists them, and `npm start -- --check` checks them.
 *
 * @param toSettings converts the parsed values for the product; by default it gets the values themselves. It throws a
 *   `ConfigError` if they do not fit together
 * @param listWarnings returns sentences for the log of the start, and for `npm start -- --check`
 */
export function defineSettings<const Table extends SettingsTable, Settings = SettingsValues<Table>>(
  table: Table,
  toSettings?: (values: SettingsValues<Table>, config: Config) => Settings,
  listWarnings?: (env: Environment) => readonly string[],
): ProductSettings<Settings> {
  return {
    table,
    listWarnings,
    read(env, config) {
      const values = readSettings(table, env);
      return toSettings ? toSettings(values, config) : (values as Settings); // the default of its type
    },
  };
}

/** Defines a product. The compiler reports parts that do not fit together. */
export function defineProduct<Settings, Services = undefined, Own extends object = object>(
  product: Product<Settings, Services, Own>,
): Product<Settings, Services, Own> {
  return product;
}

/** Members that are called at start or for each request. */
const FUNCTIONS = ['context', 'api', 'apiStore', 'steps', 'routes', 'upgrades'] as const;

/**
 * Checks at start what the compiler checks in `defineProduct()`. Neither the build nor `npm run dev` runs the compiler.
 *
 * @throws WiringError with a sentence for each member that is missing or has the wrong shape
 */
export function requireProduct<Settings, Services, Own extends object>(
  product: Partial<Product<Settings, Services, Own>> | undefined,
): void {
  if (!product) throw new WiringError(`${PRODUCT_FILE} does not export \`product\`. Make it with defineProduct().`);
  const { settings, services, pages, apiOrigins = '*' } = product;
  const sentences = FUNCTIONS.filter((name) => product[name] !== undefined && typeof product[name] !== 'function').map(
    (name) => `\`${name}\` in ${PRODUCT_FILE} is not a function. Write it as \`${name}: () => …\`.`,
  );
  if (typeof settings?.read !== 'function')
    sentences.push(`\`settings\` is missing in ${PRODUCT_FILE}. Make it with defineSettings().`);
  if (typeof pages !== 'object') sentences.push(`\`pages\`, the table of server files, is missing in ${PRODUCT_FILE}.`);
  if (services && typeof services.open !== 'function')
    sentences.push(`\`services\` in ${PRODUCT_FILE} has no function \`open\`.`);
  if (apiOrigins !== '*' && !Array.isArray(apiOrigins))
    sentences.push(`\`apiOrigins\` in ${PRODUCT_FILE} is not a list. Write it as ['https://app.example.com'].`);
  else if (apiOrigins !== '*')
    for (const wrong of apiOrigins.filter((text) => !isOrigin(text)))
      sentences.push(
        `\`apiOrigins\` in ${PRODUCT_FILE} has "${wrong}", which is not an origin. Write it as https://app.example.com.`,
      );
  if (sentences.length > 0) throw new WiringError(sentences.join('\n'));
}
