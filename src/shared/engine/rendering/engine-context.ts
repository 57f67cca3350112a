import { type ComponentType, createContext, useContext } from 'react';
import type { Location } from 'react-router';
import type { PageModule } from '../routing/routes.ts';
import type { PageError, ToldAddress } from '../wire/payload.ts';

/** Props of a page for an error, one of `ErrorPages`. */
export interface ErrorPageProps {
  readonly error: PageError;
  /** Name of the host, for the error page's sentence; from configuration or the checked `Host`. */
  readonly host: string;
}

/** The owner's page for each way in which a page can end. */
export interface ErrorPages {
  readonly notFound: ComponentType<ErrorPageProps>;
  readonly forbidden: ComponentType<ErrorPageProps>;
  readonly unauthorized: ComponentType<ErrorPageProps>;
  readonly public: ComponentType<ErrorPageProps>;
  readonly failure: ComponentType<ErrorPageProps>;
}

/** Props of `FailureHelp`. */
export interface FailureHelpProps {
  readonly error: PageError;
  /** `false` leaves out the form. Operators still get their link. */
  readonly form?: boolean;
}

/** How the router stands after a navigation was committed to the page. */
export interface Commit {
  readonly location: Location;
  readonly restoreScrollPosition: number | false | null;
  readonly preventScrollReset: boolean;
}

/** What the engine's own components need to know about the side on which they run. */
export interface Engine {
  readonly host: string;
  /** On the server, for a page that is kept: why it may not name the host. */
  readonly hostRefusal?: string;
  readonly errorPages: ErrorPages;
  /** On the server, where the page is rendered for one request. */
  readonly nonce?: string;
  /** Modules of the routes that may render now, by route id. */
  readonly modules: ReadonlyMap<string, PageModule>;
  /** Style sheets by route id. */
  readonly styles: ReadonlyMap<string, readonly string[]>;
  /** What a visitor may learn of something thrown. On the server this is the funnel, and counts. */
  readonly toPageError: (error: unknown) => PageError;
  /** Called as each route renders: the server learns from it which boundary a failed shell belongs to. */
  readonly onRoute?: (id: string) => void;
  /**
   * Called when an error stands in the place of a route or of a late value.
   *
   * @param thrown what it was made of
   * @param onAddress to be called where the failure gets its address later
   * @returns called when it is shown no longer
   */
  readonly onShownError?: (
    error: PageError,
    thrown: unknown,
    onAddress: (told: ToldAddress) => void,
  ) => (() => void) | undefined;
  /** What `FailureHelp` shows; in the browser it comes when it is needed. */
  readonly failureHelp?: ComponentType<FailureHelpProps>;
  /** Called when a navigation stands in the page. */
  readonly onCommit?: (commit: Commit) => void;
  /**
   * In the browser: asks by HEAD whether the page that stands has changed, and brings its data where it
   * has. Rejects without a network.
   *
   * @returns false where it could not be told: a navigation is on its way, or the server cannot say
   */
  readonly refresh?: () => Promise<boolean>;
}

export const EngineContext = createContext<Engine | null>(null);

export function useEngine(): Engine {
  const engine = useContext(EngineContext);
  if (!engine) {
    throw new Error(
      'This component was rendered outside a Spillway page. Render it below the document, in a page or a layout.',
    );
  }
  return engine;
}
