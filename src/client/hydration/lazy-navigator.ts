import type { DataRouter, Location } from 'react-router';
import { createStandIn } from '../../shared/routing/stand-in.ts';
import { FULL_PAGE_KEY } from '../../shared/wire/protocol.ts';
import { wasJustLoaded } from '../navigation/chunk-reload.ts';
import type { BrowserApp, FirstPage, Navigator } from '../navigation/navigator.ts';
import type { Reporting } from '../reporting/reporting.ts';

/** The navigator, which loads when something first needs it. Until then, a stand-in of its router renders the page. */
export interface LazyNavigator {
  /** The stand-in, then the router itself. */
  router: DataRouter;
  /** Undefined until it has loaded. */
  live?: Navigator;
  /** Called once the router itself has loaded. */
  onRouter?: () => void;
  load(): Promise<Navigator>;
}

export function createLazyNavigator(app: BrowserApp, page: FirstPage, report: Reporting['report']): LazyNavigator {
  let loading: Promise<Navigator> | undefined;
  const location = readLocation();
  // The server does not know the state of history entries.
  const rendered = location.state === null ? location : { ...location, state: null };

  async function start(): Promise<Navigator> {
    const { createNavigator } = await import('../navigation/navigator.ts');
    const live = createNavigator(app, page, { shown: { ...lazy.router.state, location }, onFailure: report });
    lazy.live = live;
    lazy.router = live.router;
    lazy.onRouter?.();
    return live;
  }

  // React Router calls these with arguments for the real router, so they are passed on unchanged.
  type AnyCall = (...args: unknown[]) => Promise<void>;
  function passOn(name: 'navigate' | 'fetch' | 'revalidate'): AnyCall {
    return async (...args) => ((await lazy.load()).router[name] as AnyCall)(...args);
  }

  const lazy: LazyNavigator = {
    router: createStandIn(
      { tree: app.tree, payload: page.payload, location: rendered },
      {
        navigate: (...args) => passOn('navigate')(...args).catch(reloadOnce),
        fetch: passOn('fetch'),
        revalidate: passOn('revalidate'),
        // After the effects of this commit, because one of them registers the key with the new router.
        deleteBlocker: (key) => queueMicrotask(() => lazy.live?.router.deleteBlocker(key)),
      },
    ),
    load() {
      if (!loading) {
        loading = start();
        loading.catch(report);
      }
      return loading;
    },
  };
  return lazy;
}

/** `useNavigate()` needs the chunk, and its caller would not learn that it is missing. */
function reloadOnce(): void {
  if (!wasJustLoaded(location.href)) location.reload();
}

function readLocation(): Location {
  // A visitor without scripts can have shared this URL. Here it is the page itself.
  const url = new URL(location.href);
  if (url.searchParams.has(FULL_PAGE_KEY)) {
    url.searchParams.delete(FULL_PAGE_KEY);
    history.replaceState(history.state, '', url);
  }
  const { pathname, search, hash } = location;
  const state = history.state as { usr?: unknown; key?: string } | null; // React Router's, from before a reload
  return { pathname, search, hash, state: state?.usr ?? null, key: state?.key ?? 'default', mask: undefined };
}
