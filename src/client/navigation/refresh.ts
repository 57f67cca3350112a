import type { DataRouter } from 'react-router';
import { DYNAMIC_PREFETCH_TIME, STATIC_STALE_TIME } from '../../shared/shared-limits.ts';
import { NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import type { PageDataStore } from '../page-data/store.ts';
import { toPath } from './browser-router.ts';
import { loadDocument } from './load-document.ts';

/** Creates the functions that load the page again that is shown. It also does so when the visitor returns to an old tab. */
export function createRefresh(router: DataRouter, store: PageDataStore) {
  let checkedAt = performance.now();
  router.subscribe(({ navigation }) => {
    if (navigation.state === 'idle') checkedAt = performance.now();
  });

  /**
   * Loads the page's data again if it has changed. Returns false if the server cannot say or runs another build, or
   * another page is shown.
   *
   * @param reloads whether to load the document if the server runs another build, which that data needs
   */
  async function update(path: string, reloads = false): Promise<boolean> {
    const answer = await store.revalidate(path);
    const { location, navigation } = router.state;
    // To load this page again, the router would begin a navigation to the next one again, too.
    if (toPath(location) !== path || navigation.state !== 'idle') return false;
    if (answer === 'changed') await router.revalidate();
    const { href } = window.location;
    if (reloads && store.isSkewed()) await loadDocument(href, { guarded: true, isReplaced: true });
    return answer !== 'failed' && !store.isSkewed();
  }

  /** The page that a navigation leads to cannot be loaded again before it is shown. */
  function whenIdle(run: () => void): void {
    const stop = router.subscribe(({ navigation }) => {
      if (navigation.state === 'idle') done();
    });
    function done(): void {
      stop();
      run();
    }
    if (router.state.navigation.state === 'idle') done();
  }

  async function refresh(reloads = false): Promise<boolean> {
    const { location, matches, navigation, revalidation } = router.state;
    if (navigation.state !== 'idle' || revalidation !== 'idle') return false;
    checkedAt = performance.now();
    if (matches.at(-1)?.route.id === NOT_FOUND_ROUTE) return true; // only the server can answer it
    return update(toPath(location), reloads);
  }

  /** A page can have changed while its tab was in the background. */
  function refreshIfOld(): void {
    const isStatic = store.recall(toPath(router.state.location))?.payload.static;
    const isOld = performance.now() - checkedAt >= (isStatic ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME);
    if (isOld && document.visibilityState === 'visible') refresh().catch(() => {});
  }
  addEventListener('focus', refreshIfOld);
  document.addEventListener('visibilitychange', refreshIfOld);

  return { update, whenIdle, refresh };
}
