import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { FailureContext } from './errors/create-failure.ts';
import type { ApiOrigins } from './http/api-origins.ts';
import type { ContentSources } from './http/content-policy.ts';
import type { ExistingApp } from './http/existing-app.ts';
import type { Upgrades } from './http/upgrades.ts';

/**
 * What the owner's files say, as `main.ts` gathers it. Nothing of it has to be there: a file that is
 * not needed goes, with its line in that table.
 */
export interface OwnersFiles<Settings> {
  /** `steps.ts`: before pages and API, in order. */
  readonly steps?: (settings: Settings) => readonly RequestHandler[];
  /** `routes.ts`: what is neither a page nor under `/api`. */
  readonly routes?: (settings: Settings) => RequestHandler;
  /** `upgrade.ts`: WebSockets. */
  readonly upgrades?: (settings: Settings) => Upgrades;
  /** `csp.ts`: sources beyond this site. */
  readonly contentSources?: ContentSources;
  /** `api-origins.ts`: other origins whose scripts may call `/api`. */
  readonly apiOrigins?: ApiOrigins;
  /** `reporting.ts`: how failures are told apart, and whom requests tell of their trace. */
  readonly reporting?: OwnersReporting;
  /** `existing-app.ts`: an Express app that was there before. */
  readonly existingApp?: ExistingApp;
}

/** What an owner may say of failures. */
export interface OwnersReporting {
  /**
   * Keeps failures at one place apart on purpose: by tenant, by a provider's code. Few and bounded
   * words; what it throws is taken as no words.
   */
  readonly splitBy?: (error: unknown, context: FailureContext) => readonly string[];
  /**
   * Who it is that something fails for, by an id of your own that stays: whoever signed in is counted
   * once, from whichever address. A hash of it is kept. Asked when something has failed, at most once a
   * request, and not waited for; what it throws is taken as not known. Of a browser's report it gets the
   * request before your steps: go by its cookies.
   */
  readonly visitorId?: (request: IncomingMessage) => string | undefined;
  /** False: visitors are not asked what they were doing. Take `FailureHelp` out of `error-pages.tsx` too. */
  readonly feedback?: boolean;
}
