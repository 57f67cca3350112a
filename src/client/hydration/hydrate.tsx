import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { type Engine, EngineContext, type ErrorPages } from '../../shared/rendering/engine-context.ts';
import { type DocumentComponent, languageOf } from '../../shared/rendering/language.ts';

// Nearly all pages use hooks and links. In the entry they take less than as chunks.
import '../../shared/rendering/hooks.ts';
import { toShownError } from '../../shared/rendering/page-error.ts';
import '../../shared/routing/link.tsx';
import { RouterView } from '../../shared/rendering/router-view.tsx';
import { createRouteTree } from '../../shared/routing/route-objects.ts';
import type { RouteDefinition } from '../../shared/routing/routes.ts';
import { createChunkReload } from '../navigation/chunk-reload.ts';
import { listenToLinks, type Submission } from '../navigation/link-events.ts';
import { createRouteLoader } from '../navigation/route-loader.ts';
import { hasSaveData } from '../navigation/save-data.ts';
import { createReporting, type Reporting } from '../reporting/reporting.ts';
import { createLazyNavigator, type LazyNavigator } from './lazy-navigator.ts';
import { readPayload, whenParsed } from './read-payload.ts';

interface HydrateOptions {
  readonly routes: readonly RouteDefinition[];
  /** The path that all pages of the table and their data share (`/admin`); none by default. */
  readonly base?: string;
  readonly document: DocumentComponent;
  readonly errorPages: ErrorPages;
}

/**
 * Hydrates the page that the server sent. It renders through a stand-in of the router. The router itself, and
 * everything else that only the next navigation needs, follows when the browser is idle, or at the first click, Back or
 * submit.
 */
export async function hydrate({ routes, base = '', document: Document, errorPages }: HydrateOptions): Promise<void> {
  const develop = process.env.SPILLWAY_DEV ? await import('../develop/development.ts') : undefined;
  const tree = createRouteTree(routes);
  let lazy: LazyNavigator | undefined;
  const reporting = createReporting({
    early: window.spillwayEarly,
    loadDelivery: async (early) => (await import('../reporting/deliver-reports.ts')).deliverReports(early),
    toRoute() {
      return tree.definitions.get(lazy?.router.state.matches.at(-1)?.route.id ?? '')?.path;
    },
    reloadFor: (thrown) => engine.reloadFor?.(thrown),
    rootHooks: develop?.rootOptions,
  });
  const page = readPayload();
  const { payload } = page;
  const loader = createRouteLoader(tree.definitions, payload);
  const navigator = createLazyNavigator({ tree, base, document: Document, loader }, page, reporting.report);
  lazy = navigator;
  await loader.load(payload.routes);

  const engine: Engine = {
    host: location.host,
    document: Document,
    nonce: document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce,
    errorPages,
    modules: loader.modules,
    styles: loader.styles,
    toPageError: toShownError,
    // To reload a page that answers a form, the browser would post the form again.
    reloadFor: payload.action ? undefined : createChunkReload(),
    onCommit: (commit) => navigator.live?.onCommit(commit),
    refresh: async (options) => (await navigator.load()).refresh(options),
    onShownError(error, thrown, onAddress) {
      develop?.onShownError(error);
      if (error.kind === 'redirect') follow(error.location ?? '/');
      return reporting.onShownError(error, thrown, onAddress);
    },
  };

  /** Follows the redirect of a component or a deferred value. The router loads documents for other sites. */
  function follow(to: string): void {
    if (to.startsWith('/')) void navigator.router.navigate(to, { replace: true });
    else location.replace(to);
  }

  const standIn = navigator.router;
  function Root(): ReactNode {
    const [router, setRouter] = useState(standIn);
    // An update before the first commit is lost, and a lazy component outside of any Suspense can delay that commit.
    useEffect(() => {
      const exchange = () => startTransition(() => setRouter(navigator.router));
      // An exchange renders places again that still wait for the server. So while the page streams, only a navigation
      // exchanges the router, or a component that can block one.
      navigator.onRouter = () => {
        navigator.router.subscribe(exchange);
        if (standIn.state.blockers.size > 0) exchange();
        else whenParsed(exchange);
      };
      navigator.onRouter();
    }, []);
    return <RouterView router={router} />;
  }

  hydrateRoot(
    document,
    <EngineContext value={engine}>
      <Document {...languageOf(Document, location.pathname)} head={null}>
        <Root />
      </Document>
    </EngineContext>,
    reporting.rootHooks,
  );

  loadWhenNeeded(navigator, reporting);
  develop?.attachPage({
    revalidate: navigator.router.revalidate,
    replaceModule: (id, module) => void loader.modules.set(id, module),
    replaceStyles: (id, hrefs) => void loader.styles.set(id, hrefs),
  });
}

/** Loads the navigator for a link, a form or Back, or when the browser is idle, and what reports failures after it. */
function loadWhenNeeded({ load }: LazyNavigator, reporting: Reporting): void {
  listenToLinks({
    navigate: (url, options) =>
      void load().then(
        (live) => live.navigate(url, options),
        () => location.assign(url), // the router's chunk did not load, so the link acts as an ordinary one
      ),
    async submit(submission) {
      const live = await load().catch(() => undefined);
      if (!live?.submit(submission)) submitNatively(submission);
    },
  });
  addEventListener('popstate', () => void load().catch(() => location.reload()), { once: true });
  whenIdle(() => {
    const loaded = load().catch(() => undefined);
    // A visitor who saves data loads it only when something fails.
    if (!hasSaveData()) void loaded.then(() => whenIdle(reporting.start));
  });
}

/**
 * Submits a form without the engine, with its button's name and value, which `form.submit()` leaves out. In a later
 * task, because a form whose submit event is still running accepts no other. The page's listeners have run already.
 */
function submitNatively({ form, submitter }: Submission): void {
  const stop = (event: Event) => event.stopImmediatePropagation();
  setTimeout(() => {
    addEventListener('submit', stop, true);
    HTMLFormElement.prototype.requestSubmit.call(form, submitter);
    removeEventListener('submit', stop, true);
  });
}

function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: 2000 });
  else setTimeout(run, 200);
}
