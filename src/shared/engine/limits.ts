import { KiB, Millisecond, Second } from '../units.ts';

/** Prefetches that may run at once (a count). A navigation never waits behind them. */
export const PREFETCH_CONCURRENCY = 5;

/** How long a static page, or its prefetched data, is reused without asking (ms); the server refreshes a static page behind the visitor's back at the same age. */
export const STATIC_STALE_TIME = 300 * Second;

/** How long the prefetched data of a dynamic page may wait for its one navigation (ms). */
export const DYNAMIC_PREFETCH_TIME = 30 * Second;

/** How long a route's chunk and styles may take before the browser loads the whole document instead (ms). */
export const ROUTE_LOAD_TIMEOUT = 3800 * Millisecond;

/** Attempts of one page-data fetch made for a server-rendered page (a count, the first try included). */
export const PAGE_DATA_ATTEMPTS = 3;

/** Breadcrumbs kept with a report (a count); the oldest is dropped. */
export const MAX_BREADCRUMBS = 100;

/** Failures that one page reports (a count): what throws on each frame must not become a load on the server. */
export const MAX_PAGE_REPORTS = 100;

/** Where reported strings (exception messages, URLs) are cut (UTF-16 code units). */
export const MAX_VALUE_LENGTH = 250;

/** A reported component stack is one line for each component, so it is not one value; its innermost lines are kept (UTF-16 code units). */
export const MAX_COMPONENT_STACK_LENGTH = 8 * KiB;

/** Errors of a chain of causes that are reported (a count), outermost first. */
export const MAX_REPORTED_ERRORS = 10;

/** Frames kept of a reported error (a count), from the throw outwards. */
export const MAX_REPORTED_FRAMES = 100;

/** Largest reported event (bytes): 102,400. Larger ones are trimmed until they fit. */
export const MAX_EVENT_BYTES = 100 * KiB;

/** Actions accept this many bytes of body unless the owner says otherwise (bytes). */
export const MAX_ACTION_BYTES = 1024 * KiB;
