import type { RouteLine } from '../../shared/routing/routes.ts';
import type { OperatorApp } from '../app.ts';
import type { HttpServer } from '../connection/http-server.ts';
import type { AssetsOptions } from '../front/assets.ts';
import type { FixedPaths, Readiness } from '../front/fixed-paths.ts';
import type { MayRead } from '../front/may-read.ts';
import type { Metrics } from '../front/metrics.ts';
import type { PublicFile } from '../front/public-files.ts';
import type { MayOpen, ReportStore } from '../reports/report-store.ts';
import type { Visitors } from '../reports/visitors.ts';
import type { ProxyTrust } from '../request/client-address.ts';
import type { Origins } from '../request/origins.ts';
import type { ErrorHandler, Step } from '../request/step.ts';
import type { TracedProject } from '../request/trace-headers.ts';

/** Where failures go. `src/server/destination.ts` says which one is in use. */
export interface Destination {
  /** For reports of browsers. */
  readonly store: ReportStore;
  readonly visitors: Visitors;
  /** For endpoints that programs read, such as the metrics. */
  readonly mayRead: MayRead;
  /** Removes credentials of operators from each request before the product sees it. */
  readonly takeCredentials: Step;
  readonly findOldAsset: AssetsOptions['findOldAsset'];
  /** Facts for `/readyz`. */
  readonly details: () => Readonly<Record<string, string>>;
  /** Registers gauges. */
  watch(metrics: Pick<Metrics, 'gauge'>): void;
  /** Creates what operators see. */
  serve(parts: OperatorParts): Promise<Operators>;
  /** Stores what is left, and blocks the thread, for a process that is about to exit (ms). */
  flushSync(timeoutMs: number): void;
  /** Stores what is left. */
  close(): Promise<void>;
  /** Waits for a moment, then does what the first answers do not need. Call it once the server listens. */
  settleIn(options: { readonly isEdited: boolean }): Promise<void>;
}

/** Parts of the site that operators use too. */
export interface OperatorParts {
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly files: ReadonlyMap<string, PublicFile>;
  readonly readiness: Readiness;
  /** Open connections on all ports together (a count). */
  readonly maxConnections: number;
  readonly earlyScript: string;
  readonly reportPath: string;
  readonly traced: TracedProject;
  readonly metricsPage: (mayRead: MayRead) => FixedPaths;
  readonly toTunnel: (parts: TunnelParts) => (fail: ErrorHandler) => Step;
}

export interface TunnelParts {
  readonly origins: Origins;
  readonly mayOpen: MayOpen;
  /** Routes of operators, whose patterns reports can name. */
  readonly routes: readonly RouteLine[];
}

export interface Operators {
  /** Undefined if the site's port has nothing for operators. */
  readonly app: OperatorApp | undefined;
  /** The metrics on the site's port. */
  readonly metrics: FixedPaths | undefined;
  /** Whether the sender of a report can open the URL of a failure. */
  readonly mayOpen: MayOpen;
  /** Their routes. */
  readonly routes: readonly RouteLine[];
  /** A server on a separate port, and its share of the connections (a count). */
  readonly server: HttpServer | undefined;
  readonly connections: number;
  /** Ends long responses, for a drain. */
  endStreams(): void;
  /** Listens on the separate port. */
  listen(): Promise<void>;
  /** Prints where operators can sign in. @param url of the site */
  welcome(url: string): Promise<void>;
}
