import { type DataRouter, IDLE_NAVIGATION, type Location, type RouterState } from 'react-router';
import type { Commit, Engine } from '../../shared/rendering/engine-context.ts';
import { type DocumentComponent, languageOf, say } from '../../shared/rendering/language.ts';
import type { RouteTree } from '../../shared/routing/route-objects.ts';
import type { ActionResult, PagePayload } from '../../shared/wire/payload.ts';
import { MULTIPART, NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import { createPageDataStore } from '../page-data/store.ts';
import { createAfterNavigation, createAnnouncer, createPostedForm, type PostedForm } from './after-navigation.ts';
import { createBrowserRouter, toPath } from './browser-router.ts';
import { createDataStrategy } from './data-strategy.ts';
import { type LinkHandlers, readFormAttribute, type Submission, shown as shownPage } from './link-events.ts';
import { loadDocument } from './load-document.ts';
import { createNextPage } from './next-page.ts';
import type { PageEvents } from './page-results.ts';
import { restorePageState, takeResult, watchFields } from './page-state.ts';
import { toUrlEncoded } from './post-form.ts';
import { prefetchLinks } from './prefetch-events.ts';
import { createRefresh } from './refresh.ts';
import type { RouteLoader } from './route-loader.ts';
import { hasSaveData } from './save-data.ts';

/** An app of pages. */
export interface BrowserApp {
  readonly tree: RouteTree;
  /** The path that all pages of the app share (`/admin`), empty for none. */
  readonly base: string;
  readonly document: DocumentComponent;
  readonly loader: RouteLoader;
}

/** The page that the server rendered. */
export interface FirstPage {
  readonly payload: PagePayload;
  readonly etag: string | undefined;
}

interface NavigatorOptions extends Pick<PageEvents, 'onFailure'> {
  /** The state of the stand-in, with the location's own state. */
  readonly shown: RouterState;
}

export interface Navigator extends Pick<LinkHandlers, 'navigate'> {
  readonly router: DataRouter;
  /** Returns false if the form leads to no page, so that the browser must send it. */
  readonly submit: (submission: Submission) => boolean;
  /** Call it with each commit of the page. */
  readonly onCommit: (commit: Commit) => void;
  /** See `Engine`. */
  readonly refresh: NonNullable<Engine['refresh']>;
}

/** Creates everything that only the next navigation needs. Loaded when the browser is idle, or at the first click. */
export function createNavigator(
  { tree, base, document: Document, loader }: BrowserApp,
  { payload, etag }: FirstPage,
  { shown, onFailure }: NavigatorOptions,
): Navigator {
  let isServerRendered = true;
  const nextPage = createNextPage(loader);
  const store = createPageDataStore({
    base,
    build: payload.build,
    isServerRendered: () => isServerRendered,
    onPage: (page) => void nextPage.loadStyles(page.styles).catch(() => {}),
    onRefused: (url, isAgain) =>
      whenIdle(() => {
        if (toPath(router.state.location) !== url) return;
        const again = isAgain ? loadDocument(url, { guarded: true, isReplaced: true }) : update(url);
        void again.catch(() => {});
      }),
  });
  const posted = createPostedForm();
  const announce = createAnnouncer();
  const afterNavigation = createAfterNavigation(shown.location, announce);
  const kept = takeResult(shown.location);
  const router: DataRouter = createBrowserRouter(
    tree.objects,
    kept ? { ...shown, actionData: { [payload.routes.at(-1) ?? '']: kept } } : shown,
    createDataStrategy(
      {
        build: payload.build,
        store,
        load: loader.load,
        prepare: nextPage.prepare,
        isShell: (id) => tree.definitions.get(id)?.mode === 'shell',
      },
      {
        getState: () => router.state,
        toText: (text, filled) => say(languageOf(Document, router.state.location.pathname), text, filled),
      },
      {
        onFailure,
        onLeave: posted.onLeave,
        onStay(message) {
          router._internalSetStateDoNotUseOrYouWillBreakYourApp({ navigation: IDLE_NAVIGATION, revalidation: 'idle' });
          posted.onCommit();
          if (message) announce(message, true);
        },
        onRecall: (url) => void update(url).catch(() => {}),
        onSend() {
          // An upload can take minutes, and the message would look like that of the new one.
          if (Object.values(router.state.actionData ?? {}).some(isMessage))
            router._internalSetStateDoNotUseOrYouWillBreakYourApp({ actionData: null });
        },
        onAnswer: posted.onAnswer,
      },
    ),
  );
  const { update, whenIdle, refresh } = createRefresh(router, store);
  store.remember(toPath(shown.location), { payload, etag });
  keepScrollPositions(router);
  let focused: Element | null = null;
  router.subscribe(({ location, navigation }) => {
    if (location.key !== shown.location.key) isServerRendered = false;
    if (navigation.state === 'idle') return;
    focused = document.activeElement;
    announce('');
  });

  prefetchLinks(function prefetch(url, priority, signal) {
    const path = toPath(url);
    const ids = router.match(url.pathname)?.map((match) => match.route.id) ?? [];
    if (store.isSkewed() || hasSaveData() || !navigator.onLine || ids.length === 0 || ids.at(-1) === NOT_FOUND_ROUTE)
      return;
    const { location, navigation } = router.state;
    // When the delay of a hover ends, its click can have led to the page already, or is about to.
    if (toPath(location) === path || (navigation.location && toPath(navigation.location) === path)) return;
    store.prefetch(path, priority, signal);
    loader.load(ids).catch(() => {}); // the navigation will report it
  });

  watchFields();
  restorePageState();

  return {
    router,
    refresh: (options) => refresh(options?.reload !== false),
    onCommit(commit) {
      const { location } = commit;
      if (location === shown.location) return; // the page has got the location's state
      const { lang, dir = '' } = Document.language?.(location.pathname) ?? document.documentElement;
      Object.assign(document.documentElement, { lang, dir });
      const url = window.location.origin + toPath(location) + location.hash;
      // The browser made this entry for a plain hash link, or has followed the link again, and has scrolled.
      const isScrolled = history.state === null || (location.key === 'default' && url === shownPage.url);
      if (history.state === null) history.replaceState({ idx: null }, ''); // Back to this entry is different
      shownPage.url = url;
      afterNavigation(isScrolled ? { ...commit, restoreScrollPosition: false } : commit, focused);
      posted.onCommit();
      restorePageState();
    },
    navigate(url, { replace, preventScrollReset }) {
      const isSame = url.href === window.location.href;
      void router.navigate(toPath(url) + url.hash, { replace: replace || isSame, preventScrollReset });
    },
    submit: (submission) => submit(router, posted, submission),
  };
}

/** @returns false if the form leads to no page */
function submit(router: DataRouter, posted: PostedForm, submission: Submission): boolean {
  const { form, submitter, link } = submission;
  const read = (name: string) => readFormAttribute(submission, name);
  const isOther = link.pathname !== new URL(shownPage.url).pathname;
  if (isOther && router.match(link.pathname)?.at(-1)?.route.id === NOT_FOUND_ROUTE) return false;
  const isPost = /^post$/i.test(read('method') ?? '');
  const formData = new FormData(form, submitter);
  const body = toUrlEncoded(formData);
  const fields = body.toString();
  if (isPost && posted.isSending(submission, fields)) return true;
  const isMultipart = isPost && /^multipart\/form-data$/i.test(read('enctype') ?? '');
  const navigation = router.navigate(toPath(link) + link.hash, {
    formMethod: isPost ? 'post' : 'get',
    ...(isMultipart ? { formEncType: MULTIPART, formData } : { body }),
    replace: read('data-replace') === null ? undefined : true,
    preventScrollReset: read('data-keep-scroll') !== null,
  });
  if (isPost) void posted.follow(submission, fields, navigation);
  return true;
}

/** A refusal that says only why the form was not processed. */
function isMessage(result: ActionResult | undefined): boolean {
  return result?.errors !== undefined && result.values === undefined;
}

const KEY = 'spillway:scroll';

/** Keeps the scroll position of each history entry, also over reloads. */
function keepScrollPositions(router: DataRouter): void {
  const positions = readPositions();
  router.enableScrollRestoration(positions, () => window.scrollY, toEntry);
  history.scrollRestoration = 'manual';
  addEventListener('pageshow', (event) => {
    if (event.persisted) history.scrollRestoration = 'manual';
  });
  addEventListener('pagehide', () => {
    positions[toEntry(router.state.location)] = window.scrollY;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(positions));
    } catch {
      // Without storage, the positions last as long as the page.
    }
    history.scrollRestoration = 'auto'; // the browser restores a reload itself
  });
}

/** Entries that the browser made itself, such as for a hash link, have no key. */
function toEntry({ key, pathname, search, hash }: Pick<Location, 'key' | 'pathname' | 'search' | 'hash'>): string {
  return key === 'default' ? pathname + search + hash : key;
}

function readPositions(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, number>; // written above
  } catch {
    return {};
  }
}
