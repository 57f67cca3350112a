import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { RouteLine } from '../../shared/routing/routes.ts';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import type { Config } from '../config.ts';
import type { Failure, ToFailureUrl, Visitor } from '../errors/failure.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { AssetsOptions } from '../front/assets.ts';
import type { CheckToken } from '../front/check-token.ts';
import type { Metrics } from '../front/metrics.ts';
import type { Tokens } from '../front/tokens.ts';
import type { ProxyTrust } from '../request/client-address.ts';
import type { Origins } from '../request/origins.ts';
import type { Step } from '../request/step.ts';
import type { Environment, SettingsTable } from '../settings.ts';

/**
 * Stores failures, and shows each at its address. `main.ts` passes one to the site: the desk, or your own. Without one,
 * failures are logged, sent to Sentry if it is configured, and error pages show their digest.
 */
export interface Tracker {
  /** Its rows of the settings table. */
  readonly settings: SettingsTable;
  /** The paths that it answers, with everything below them: `/desk` and `/api/desk`. The first is its home page. */
  readonly paths: readonly [home: string, ...others: string[]];
  /** The routes of its pages, whose patterns reports can name. */
  readonly routes: readonly RouteLine[];
  /** What it writes into DATA_DIR: a folder, and files. A start needs access to all of it. */
  readonly files: { readonly folder: string; readonly files: readonly string[] };
  /** What `npm start -- --check URL` asks a running site. */
  readonly check: {
    /** Paths that only signed-in people can read. It requests them as a stranger. */
    readonly guarded: readonly string[];
    /** Settings that name a header that only a proxy can set. It forges these headers. */
    readonly headers: readonly string[];
    /** The values in `health()` of a tracker that cannot store failures. */
    readonly trouble: readonly string[];
  };
  /** Where those who are signed in find a failure. */
  readonly toUrl: ToFailureUrl;
  /**
   * Reads its settings. Opens nothing.
   *
   * @throws ConfigError with a sentence for each wrong value
   */
  configure(env: Environment, config: Config): ConfiguredTracker;
}

/** A tracker with valid settings. */
interface ConfiguredTracker {
  /** Values of settings that nothing may show. */
  readonly secrets: readonly string[];
  /**
   * Asks the store, for `npm start -- --check`. Creates nothing.
   *
   * @param dist the folder of the build
   * @returns a sentence if failures cannot be stored
   */
  readonly checkStore?: (dist: string) => Promise<string | undefined>;
  /**
   * Opens the store. Failures until then are only logged.
   *
   * @throws StartError, if the site must not start
   */
  open(host: TrackerHost): Promise<OpenedTracker>;
}

/** What a site gives its tracker. */
export interface TrackerHost {
  /** The site's settings. */
  readonly config: Config;
  /** What runs. */
  readonly build: Build;
  /** Where it logs, counts, and records failures, as the site does. */
  readonly records: {
    /** The site's log. */
    readonly log: Logger;
    /** For its counters and gauges. */
    readonly metrics: Pick<Metrics, 'addCounters' | 'gauge'>;
    /** Records failures of its pages. */
    readonly funnel: Funnel;
    /** The requests in flight, for `readInFlight()` in any thread. */
    readonly inFlight: SharedArrayBuffer;
  };
  /** Who can open it, and from where. */
  readonly access: {
    /** OPERATOR_TOKEN and VIEWER_TOKEN. */
    readonly tokens: Tokens;
    /** Whether the operator's token was created just now. */
    readonly isTokenNew: boolean;
    /** Checks a token, and counts wrong ones by sender. */
    readonly checkToken: CheckToken;
    /** The origins of the port that serves it. */
    readonly origins: Origins;
    /** Whether an address is one of TRUST_PROXY, so that its headers count. */
    readonly trust: ProxyTrust;
  };
  /** Parts of each page. */
  readonly page: PageReporting;
  /** Drops a page from this server's caches, because `revalidate()` was called on another replica. */
  readonly dropCached: (path: string) => void;
}

/** The build of a site. */
export interface Build {
  /** Its folder. */
  readonly dist: string;
  /** Its id, and its files by entry and route. */
  readonly manifest: AssetManifest;
  /** RELEASE, or the release or id of the build. */
  readonly release: string;
}

/** What each page contains so that its browser can report. */
export interface PageReporting {
  /** The first script of every page. */
  readonly earlyScript: string;
  /** The path for reports that browsers send by themselves. */
  readonly reportPath: string;
}

/** A tracker that stores failures and shows them. */
export interface OpenedTracker {
  /** Removes its cookies and headers from each request, before product code runs. */
  readonly takeCredentials: Step;
  /** Stores a failure. It is durable when this returns. @returns false if that failed: the log then gets all of it */
  record(failure: Failure, visitor: Visitor | undefined): boolean;
  /**
   * Returns whether the visitor can open a failure. Runs once for each request. False without a wait, unless the request
   * has a cookie that this tracker signed. Never rejects.
   */
  canOpen(request: IncomingMessage): false | Promise<boolean>;
  /** Answers every request for its paths. */
  readonly handle: RequestHandler;
  /** Finds assets of earlier builds. */
  readonly findAsset?: AssetsOptions['findOldAsset'];
  // Asked before `record()`, so that the limits on strangers hold for every tracker, and Sentry gets the same reports.
  /** Returns whether an incident has this digest. Strangers can open few new ones. A rejection counts as no. */
  isKnown(digest: string): Promise<boolean>;
  /** Returns whether the server's failure at this address still needs the report of the browser that met it. */
  isEchoAwaited(address: string): Promise<boolean>;
  /** Lists earlier builds. Of two with the same release, the newer one comes first. */
  listBuilds(): Promise<readonly { readonly id: string; readonly release: string }[]>;
  /** Lets the other replicas drop a page from their caches, because `revalidate()` was called here. */
  shareRevalidation?(path: string): void;
  /**
   * Called once, when the site listens: prints a sign-in link, and does what the first answers do not need.
   *
   * @param origin where people reach the tracker: `http://127.0.0.1:3000`
   * @param isFirst false for a later server of one `npm run dev`
   */
  ready(origin: string, isFirst: boolean): Promise<void>;
  /** Facts for `/readyz`. They do not change its status. */
  health(): Readonly<Record<string, string>>;
  /** Stores what is left, and blocks the thread, for a process that is about to exit (ms). */
  flushSync(timeoutMs: number): void;
  /** Records that the process ends on purpose, for one that cannot wait for `close()`. */
  markEnded?(): void;
  /** Stores what is left. */
  close(): Promise<void>;
}
