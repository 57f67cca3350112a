import { KiB, Millisecond, Second } from './units.ts';

/** Concurrent prefetches. A navigation never waits for them. */
export const PREFETCH_CONCURRENCY = 5;

/**
 * How long a static page or its prefetched data is reused without a request (ms). The server refreshes a static page in
 * the background at the same age.
 */
export const STATIC_STALE_TIME = 300 * Second;

/** How long the prefetched data of a dynamic page stays valid (ms). It serves one navigation. */
export const DYNAMIC_PREFETCH_TIME = 30 * Second;

/** How long the browser waits for a route's chunk and styles before it loads the full document instead (ms). */
export const ROUTE_LOAD_TIMEOUT = 3800 * Millisecond;

/** A request that fails because its page is being left is no failure. The page is gone within this time (ms). */
export const LEAVING_TIME = 1 * Second;

/** Attempts of one page-data fetch for a server-rendered page, including the first. */
export const PAGE_DATA_ATTEMPTS = 3;

/** Breadcrumbs kept with a report. The oldest is dropped. */
export const MAX_BREADCRUMBS = 100;

/** Failures that one page reports, so that an error thrown on every frame does not overload the server. */
export const MAX_PAGE_REPORTS = 100;

/** Reported strings (exception messages, URLs) are cut at this length (UTF-16 code units). */
export const MAX_VALUE_LENGTH = 250;

/** Reported errors of a chain of causes, outermost first. */
export const MAX_REPORTED_ERRORS = 10;

/** Largest request body of an action (bytes), unless the action sets its own limit. */
export const MAX_ACTION_BYTES = 1024 * KiB;
