import type { RequestHandler } from 'express';
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
  /** `existing-app.ts`: an Express app that was there before. */
  readonly existingApp?: ExistingApp;
}
