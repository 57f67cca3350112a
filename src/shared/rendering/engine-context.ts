import { type ComponentType, createContext, useContext } from 'react';
import type { Location } from 'react-router';
import type { PageModule } from '../routing/routes.ts';
import type { PageError, ReportedAddress } from '../wire/payload.ts';
import type { DocumentComponent } from './language.ts';

/** Props of an error page (one of `ErrorPages`). */
export interface ErrorPageProps {
  readonly error: PageError;
  /** The host's name for the error page's sentence, from the configuration or the validated `Host` header. */
  readonly host: string;
}

/** The product's error pages. */
export interface ErrorPages {
  readonly notFound: ComponentType<ErrorPageProps>;
  readonly forbidden: ComponentType<ErrorPageProps>;
  readonly unauthorized: ComponentType<ErrorPageProps>;
  readonly public: ComponentType<ErrorPageProps>;
  readonly failure: ComponentType<ErrorPageProps>;
}

/** The router's state after a navigation was committed to the page. */
export interface Commit {
  readonly location: Location;
  readonly restoreScrollPosition: number | false | null;
  readonly preventScrollReset: boolean;
}

/** What the engine's components need from the side on which they run. */
export interface Engine {
  readonly host: string;
  /** On the server, for a cached page: why it cannot use the host's name. */
  readonly hostRefusal?: string | undefined;
  readonly errorPages: ErrorPages;
  readonly document: DocumentComponent;
  /** Of the document, if it was rendered for a single request. */
  readonly nonce?: string | undefined;
  /** On the server: called with what `useServerStyles()` was given. */
  readonly onStyles?: (collect: () => string) => void;
  /** Loaded route modules, by route id. */
  readonly modules: ReadonlyMap<string, PageModule>;
  /** Style sheets by route id. */
  readonly styles: ReadonlyMap<string, readonly string[]>;
  /** Returns what the visitor can see of a thrown value. On the server, this also reports the failure. */
  readonly toPageError: (error: unknown) => PageError;
  /** Called as each route renders: shows the server which boundary a failed shell belongs to. */
  readonly onRoute?: (id: string) => void;
  /**
   * Called when an error is shown in place of a route or a deferred value, or when one of them redirects.
   *
   * @param thrown the value that `error` was made from
   * @param onAddress call it if the failure gets its address later
   * @returns called when the error is no longer shown
   */
  readonly onShownError?: (
    error: PageError,
    thrown: unknown,
    onAddress: (address: ReportedAddress) => void,
  ) => (() => void) | undefined;
  /**
   * In the browser: reloads the document if an error was thrown because a chunk did not load.
   *
   * @returns a promise that never settles, or undefined if a reload would not help
   */
  readonly reloadFor?: ((thrown: unknown) => Promise<never> | undefined) | undefined;
  /** Called when a navigation was committed to the page. */
  readonly onCommit?: (commit: Commit) => void;
  /**
   * In the browser: checks with a HEAD request whether the page has changed, and loads its data if so. Rejects
   * without a network.
   *
   * @returns false if this is unknown: a navigation is pending, the server cannot say, or it runs another build and the
   *   document must not be loaded
   */
  readonly refresh?: (options?: { readonly reload?: boolean }) => Promise<boolean>;
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
