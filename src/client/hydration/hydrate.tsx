import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { hydrateRoot } from 'react-dom/client';
import type { DataRouter, Location } from 'react-router';
import { type Engine, EngineContext, type ErrorPages } from '../../shared/rendering/engine-context.ts';
import { type DocumentComponent, languageOf } from '../../shared/rendering/language.ts';

// Nearly all pages use hooks and links. In the entry they take less than as chunks.
import '../../shared/rendering/hooks.ts';
import { toShownError } from '../../shared/rendering/page-error.ts';
import '../../shared/routing/link.tsx';
import { RouterView } from '../../shared/rendering/router-view.tsx';
import { createRouteTree } from '../../shared/routing/route-objects.ts';
import type { RouteDefinition } from '../../shared/routing/routes.ts';
import { createStandIn } from '../../shared/routing/stand-in.ts';
import { WHOLE_KEY } from '../../shared/wire/protocol.ts';
import { createChunkReload } from '../navigation/chunk-reload.ts';
import { listenToLinks, type Submission } from '../navigation/link-events.ts';
import type { Navigator } from '../navigation/navigator.ts';
import { createRouteLoader } from '../navigation/route-loader.ts';
import { hasSaveData } from '../navigation/save-data.ts';
import { createReporting } from '../reporting/reporting.ts';
import { readPayload } from './read-payload.ts';

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
  let routeIds: readonly string[] = [];
  let live: Navigator | undefined;
  const reporting = createReporting({
    early: window.spillwayEarly,
    loadDelivery: async (early) => (await import('../reporting/deliver-reports.ts')).deliverReports(early),
    toRoute() {
      const shown = live?.router.state.matches.at(-1)?.route.id ?? routeIds.at(-1) ?? '';
      return tree.definitions.get(shown)?.path;
    },
    reloadFor: (thrown) => engine.reloadFor?.(thrown),
    rootHooks: develop?.rootOptions,
  });
  const { payload, etag } = readPayload();
  routeIds = payload.routes;
  const loader = createRouteLoader(tree.definitions, payload);
  await loader.load(payload.routes);

  let exchange: (() => void) | undefined;
  let navigator: Promise<Navigator> | undefined;
  function getNavigator(): Promise<Navigator> {
    navigator ??= loadNavigator();
    return navigator;
  }
  async function loadNavigator(): Promise<Navigator> {
    try {
      const { createNavigator } = await import('../navigation/navigator.ts');
      live = createNavigator({
        tree,
        base,
        payload,
        etag,
        shown: standIn.state,
        document: Document,
        loader,
        onFailure: reporting.report,
      });
      exchange?.();
      return live;
    } catch (error) {
      reporting.report(error);
      throw error;
    }
  }

  // React Router calls these with arguments for the real router, so they are passed on unchanged.
  type AnyCall = (...args: unknown[]) => Promise<void>;
  function passOn(name: 'navigate' | 'fetch' | 'revalidate'): AnyCall {
    return async (...args) => ((await getNavigator()).router[name] as AnyCall)(...args);
  }
  const revalidate = passOn('revalidate');
  const standIn = createStandIn({
    tree,
    payload,
    location: readLocation(),
    navigate: passOn('navigate'),
    fetch: passOn('fetch'),
    revalidate,
    // After the effects of this commit, because one of them registers the key with the new router.
    deleteBlocker: (key) => queueMicrotask(() => live?.router.deleteBlocker(key)),
  });

  const engine: Engine = {
    host: window.location.host,
    document: Document,
    nonce: document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce,
    errorPages,
    modules: loader.modules,
    styles: loader.styles,
    toPageError: toShownError,
    // To reload a page that answers a form, the browser would post the form again.
    reloadFor: payload.action ? undefined : createChunkReload(),
    onCommit: (commit) => live?.onCommit(commit),
    refresh: async () => (await getNavigator()).refresh(),
    onShownError(error, thrown, onAddress) {
      develop?.onShownError(error);
      return reporting.onShownError(error, thrown, onAddress);
    },
  };

  function Root(): ReactNode {
    const [router, setRouter] = useState<DataRouter>(standIn);
    // An update before the first commit is lost, and a lazy component outside of any Suspense can delay that commit.
    useEffect(() => {
      exchange = () => startTransition(() => live && setRouter(live.router));
      exchange();
    }, []);
    return <RouterView router={router} />;
  }

  hydrateRoot(
    document,
    <EngineContext value={engine}>
      <Document {...languageOf(Document, window.location.pathname)} head={null}>
        <Root />
      </Document>
    </EngineContext>,
    reporting.rootHooks,
  );

  listenToLinks({
    navigate: (url, options) =>
      void getNavigator().then(
        (live) => live.navigate(url, options),
        () => window.location.assign(url), // the router's chunk did not load, so the link acts as an ordinary one
      ),
    async submit(submission) {
      const live = await getNavigator().catch(() => undefined);
      if (!live?.submit(submission)) submitNatively(submission);
    },
  });
  addEventListener('popstate', () => void getNavigator().catch(() => window.location.reload()), { once: true });
  whenIdle(() => {
    const exchanged = getNavigator().catch(ignore);
    // A visitor who saves data loads it only when something fails.
    if (!hasSaveData()) void exchanged.then(() => whenIdle(reporting.start));
  });
  develop?.attachPage({
    revalidate,
    replaceModule: (id, module) => void loader.modules.set(id, module),
    replaceStyles: (id, hrefs) => void loader.styles.set(id, hrefs),
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

function readLocation(): Location {
  // A visitor without scripts can have shared this URL. Here it is the page itself.
  const url = new URL(window.location.href);
  if (url.searchParams.has(WHOLE_KEY)) {
    url.searchParams.delete(WHOLE_KEY);
    history.replaceState(history.state, '', url);
  }
  const { pathname, search, hash } = window.location;
  const state = history.state as { usr?: unknown; key?: string } | null; // React Router's, from before a reload
  return { pathname, search, hash, state: state?.usr ?? null, key: state?.key ?? 'default', mask: undefined };
}

function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: 2000 });
  else setTimeout(run, 200);
}

function ignore(): void {}
