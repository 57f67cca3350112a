import type { HydrationOptions } from 'react-dom/client';
import type {
  BrowserFailureKind,
  EarlyErrors,
  Happening,
  ReportDetails,
  ShownError,
} from '../../shared/reporting/browser-report.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';
import { MAX_PAGE_REPORTS } from '../../shared/shared-limits.ts';
import type { PageError, ReportedAddress } from '../../shared/wire/payload.ts';
import { watchFailedTemplates } from './failed-templates.ts';
import { isMeant, isNetworkFailure } from './thrown.ts';

export type RootHooks = Required<Pick<HydrationOptions, 'onCaughtError' | 'onUncaughtError' | 'onRecoverableError'>>;

export type Deliver = (happened: Happening) => void;

interface ReportingOptions {
  /** The state of the document's first script. Without it, failures are only on the console. */
  readonly early: EarlyErrors | undefined;
  /** Loads the code that judges and sends failures. */
  readonly loadDelivery: (early: EarlyErrors) => Promise<Deliver>;
  /** Returns the pattern of the current page: `/orders/:id`. */
  readonly toRoute: () => string | undefined;
  /** Reloads the document for some errors. Then they are not reported. */
  readonly reloadFor: (thrown: unknown) => Promise<never> | undefined;
  /** Print errors in place of React's own handlers, which hooks replace. */
  readonly rootHooks?: RootHooks | undefined;
}

export interface Reporting {
  /** For `hydrateRoot`. Errors are still printed on the console, as React does by default. */
  readonly rootHooks: RootHooks;
  /** Reports a failure that the engine handled. */
  report(thrown: unknown, kind?: BrowserFailureKind): void;
  /**
   * Called when an error is shown. A failure in the browser has no address until the server has answered: then
   * `onAddress` is called.
   *
   * @returns a function that ends the waiting
   */
  onShownError(error: PageError, thrown: unknown, onAddress: (reported: ReportedAddress) => void): () => void;
  /** Loads the code that sends, unless a failure has loaded it already. */
  start(): void;
}

/** Records failures from React and the router until the code that judges them is there. Part of the first load. */
export function createReporting({
  early,
  loadDelivery,
  toRoute,
  reloadFor,
  rootHooks = PRINT,
}: ReportingOptions): Reporting {
  const templates = watchFailedTemplates();
  let isLoading = false;
  let isPrinting = false;
  /** Not sent when the page is left, because leaving can have caused them. */
  const perhapsLeaving: Happening[] = [];
  let deliver: Deliver = (happened) => {
    const list = isNetworkFailure(happened.event.reason) ? perhapsLeaving : (early?.kept ?? []);
    if (list.length < MAX_PAGE_REPORTS) list.push(happened);
    start();
  };

  function start(): void {
    // If it does not load (and browsers remember that it did not), the document's first script sends the recorded
    // failures when the page is left.
    if (!early || isLoading) return;
    isLoading = true;
    loadDelivery(early).then(handOver, () => {});
  }

  function handOver(loaded: Deliver): void {
    deliver = loaded;
    for (const happened of [...(early?.kept.splice(0) ?? []), ...perhapsLeaving]) loaded(happened);
  }

  function note(type: string, reason: unknown, details?: ReportDetails, shown?: ShownError): void {
    early?.take({ at: Date.now(), event: { type, target: window, reason }, details, shown });
  }

  function tellAndPrint<Info extends { readonly componentStack?: string | undefined }>(
    type: string,
    print: (error: unknown, info: Info) => void,
  ) {
    return (error: unknown, info: Info): void => {
      // An error boundary of the product caught it. The engine's own wait for the reload.
      if (reloadFor(readProperty(error, 'cause') ?? error)) return;
      const echo = type === 'react.recoverable' ? undefined : templates.takeGone();
      note(type, error, { componentStack: info.componentStack, echo });
      // The window reports printed errors a second time.
      isPrinting = true;
      try {
        print(error, info);
      } finally {
        isPrinting = false;
      }
    };
  }

  if (early) {
    early.take = (happened) => {
      if (isPrinting || isMeant(happened.event.reason)) return;
      const { origin, pathname } = location;
      deliver({ ...happened, details: { ...happened.details, url: origin + pathname, route: toRoute() } });
    };
    if (early.kept.length > 0) start();
  }

  return {
    start,
    report: (thrown, kind) => note('router', thrown, { kind }),
    onShownError(error, thrown, onAddress) {
      let isShown = true;
      const shown = { error, thrown, onAddress: (reported: ReportedAddress) => isShown && onAddress(reported) };
      if (error.kind === 'failure') note('shown', undefined, undefined, shown);
      return () => {
        isShown = false;
      };
    },
    rootHooks: {
      onCaughtError: tellAndPrint('react.caught', rootHooks.onCaughtError),
      onUncaughtError: tellAndPrint('react.uncaught', rootHooks.onUncaughtError),
      onRecoverableError: tellAndPrint('react.recoverable', rootHooks.onRecoverableError),
    },
  };
}

const toWindow = (error: unknown): void => reportError(error);

/** As React does by default. */
const PRINT: RootHooks = {
  onCaughtError: (error) => console.error(error),
  onUncaughtError: toWindow,
  onRecoverableError: toWindow,
};
