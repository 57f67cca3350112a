import type { HydrationOptions } from 'react-dom/client';
import type {
  BrowserFailureKind,
  EarlyErrors,
  Happening,
  ReportDetails,
  ShownError,
} from '../../../shared/engine/reporting/browser-report.ts';
import type { PageError, ToldAddress } from '../../../shared/engine/wire/payload.ts';
import { watchLateTemplates } from '../hydration/late-templates.ts';
import { isMeant, isNetworkFailure } from './thrown.ts';

export type RootHooks = Required<Pick<HydrationOptions, 'onCaughtError' | 'onUncaughtError' | 'onRecoverableError'>>;

export type Deliver = (happened: Happening) => void;

export interface ReportingOptions {
  /** What the document's first script left; without it failures stand on the console alone. */
  readonly early: EarlyErrors | undefined;
  /** Brings what judges and sends. */
  readonly loadDelivery: (early: EarlyErrors) => Promise<Deliver>;
  /** The pattern of the page that stands: `/orders/:id`. */
  readonly toRoute: () => string | undefined;
  /** Print in the place of React's own reports, which hooks replace. */
  readonly rootHooks?: RootHooks | undefined;
}

export interface Reporting {
  /** For `hydrateRoot`. What React would have said on the console is said. */
  readonly rootHooks: RootHooks;
  /** A failure that the engine met and went on from. */
  report(thrown: unknown, kind?: BrowserFailureKind): void;
  /**
   * An error is shown in the place of something. A failure of the browser's own has no address until
   * the server has answered: then `onAddress` is called.
   *
   * @returns ends the waiting
   */
  onShownError(error: PageError, thrown: unknown, onAddress: (told: ToldAddress) => void): () => void;
  /** Brings what sends, where no failure has brought it yet. */
  start(): void;
}

/** Writes down what React and the router tell of failures, until what judges them is there: it is in the first load. */
export function createReporting({ early, loadDelivery, toRoute, rootHooks = PRINT }: ReportingOptions): Reporting {
  const templates = watchLateTemplates();
  let isLoading = false;
  let isPrinting = false;
  /** Not kept for the moment in which the page goes, because that may have caused them. */
  const perhapsLeaving: Happening[] = [];
  let deliver: Deliver = (happened) => {
    if (isNetworkFailure(happened.event.reason)) perhapsLeaving.push(happened);
    else early?.kept.push(happened);
    start();
  };

  function start(): void {
    // Where it does not come (and browsers remember that it did not), the document's first script sends
    // what was kept, when the page goes.
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
      const echo = type === 'react.recoverable' ? undefined : templates.takeGone();
      note(type, error, { componentStack: info.componentStack, echo });
      // The window reports printed errors once more.
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
      const shown = { error, thrown, onAddress: (told: ToldAddress) => isShown && onAddress(told) };
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

/** As React does it by itself. */
const PRINT: RootHooks = {
  onCaughtError: (error) => console.error(error),
  onUncaughtError: (error) => reportError(error),
  onRecoverableError: (error) => reportError(error),
};
