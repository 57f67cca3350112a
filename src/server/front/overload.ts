import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { EngineText } from '../../shared/rendering/language.ts';
import { MiB, Second } from '../../shared/units.ts';
import { ACTION_ACCEPT } from '../../shared/wire/protocol.ts';
import { PLAIN_PAGE_POLICY, renderPlainPage, teller } from '../errors/last-resort.ts';
import { sendProblem } from '../errors/problem.ts';
import type { Count } from '../request/counters.ts';
import { isApiPath, toPageUrl } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { HTML_TYPE, sendBody } from '../request/send-body.ts';
import { isRead, type Step } from '../request/step.ts';
import { createRenderLimiter, type RenderLimiter } from './render-limiter.ts';

/** At this moment. */
export interface Overload {
  /** From 0: see `LEVELS`. */
  readonly level: number;
  /** The label of `spillway_requests_shed_total`. */
  readonly reason: 'event-loop' | 'renders' | 'pages';
}

interface OverloadOptions {
  /** How long a page's render can wait before new pages are refused (ms). The event loop can be late by twice that. */
  readonly delayMs: number;
  /** Pages that can be in progress at the same time (a count). */
  readonly maxPages: number;
  readonly limiter: Pick<RenderLimiter, 'pages' | 'waitMs'>;
  /** How late the event loop was recently (ms). */
  readonly readLoopDelay: () => number;
}

/** Compares what waits with its limits: 1 is at the limit. */
export function createOverload({ delayMs, maxPages, limiter, readLoopDelay }: OverloadOptions): Overload {
  // Functions, because each request asks for the level, and an object of the three would cost ten times as much.
  const measures = {
    // Other processes on a busy machine can delay the event loop too.
    'event-loop': () => readLoopDelay() / (2 * delayMs),
    renders: () => limiter.waitMs / delayMs,
    pages: () => limiter.pages / maxPages,
  } satisfies Record<Overload['reason'], () => number>;
  return {
    get level() {
      return Math.max(measures['event-loop'](), measures.renders(), measures.pages());
    },
    get reason() {
      const [highest] = Object.entries(measures).sort(([, one], [, other]) => other() - one());
      return highest?.[0] as Overload['reason']; // a key of them
    },
  };
}

/** How often the event loop is checked (ms): a block can appear shorter by as much. */
const INTERVAL = 100;
/** The share of the last delay that remains after an interval: one long block is over within a second or two. */
const MEMORY = 0.75;

/** In a gap with a smaller share of a CPU, the process was not allowed to run, or waited. */
const PAUSE_SHARE = 0.02;
/** Pauses this long are reported (ms). */
const REPORTED_PAUSE = 1 * Second;

/**
 * Measures how late the event loop is, without keeping the process alive. `monitorEventLoopDelay` of Node forgets a
 * block if `reset()` comes right after it.
 *
 * @param onPause called after the process stood still for a second or more (ms), which is not an overload
 * @returns a function that reads the delay (ms). The first call begins to measure, because a start can take seconds
 */
export function watchLoopDelay(onPause: (ms: number) => void): () => number {
  let delay = 0;
  let last = 0;
  let cpu: NodeJS.CpuUsage | undefined;

  function look(): void {
    const late = performance.now() - last - INTERVAL;
    const { user, system } = process.cpuUsage(cpu);
    const isPause = (user + system) / 1000 < late * PAUSE_SHARE; // from microseconds
    delay = Math.max(0, isPause ? 0 : late, delay * MEMORY);
    if (isPause && late >= REPORTED_PAUSE) onPause(late);
    last += late + INTERVAL;
    cpu = process.cpuUsage();
  }

  return function readLoopDelay() {
    if (cpu) return delay;
    last = performance.now();
    cpu = process.cpuUsage();
    setInterval(look, INTERVAL).unref();
    return 0;
  };
}

/** Heap that a page in progress can use (bytes): its data, its text, and React's state. */
const PAGE_BYTES = 4 * MiB;
/** Limits of the number that is calculated from the heap (counts). */
const FEWEST_PAGES = 32;
const MOST_PAGES = 1000;

/** Returns how many pages can be in progress at the same time, by the heap limit of this process. */
function toMaxPages(heapLimit = getHeapStatistics().heap_size_limit): number {
  return Math.min(MOST_PAGES, Math.max(FEWEST_PAGES, Math.floor(heapLimit / PAGE_BYTES)));
}

interface OpenOverloadOptions {
  /** How late a page's render or the event loop can be (ms); 0 refuses nothing. */
  readonly delayMs: number;
  /** Pages in progress (a count); by default calculated from the heap. */
  readonly maxPages?: number | undefined;
  readonly count: Count;
  readonly log: Pick<Logger, 'info'>;
}

/** Creates the limiter for renders, and starts to watch for overload. `overload` is undefined if nothing is refused. */
export function openOverload({ delayMs, maxPages = toMaxPages(), count, log }: OpenOverloadOptions): {
  readonly limiter: RenderLimiter;
  readonly overload: Overload | undefined;
} {
  if (delayMs === 0) return { limiter: createRenderLimiter(), overload: undefined };
  const limiter = createRenderLimiter({
    maxWaitMs: delayMs,
    onRefuse: () => count('spillway_requests_shed_total', { what: 'page', reason: 'renders' }),
  });
  const readLoopDelay = watchLoopDelay((ms) =>
    log.info(`The process was paused, or waited for the system, for ${Math.round(ms / Second)} s.`),
  );
  return { limiter, overload: createOverload({ delayMs, maxPages, limiter, readLoopDelay }) };
}

/** The kind of a request: the label `what` of `spillway_requests_shed_total`. */
type What = 'prefetch' | 'page' | 'data' | 'api' | 'other';

/** The level from which each kind is refused. */
const LEVELS: Readonly<Record<What, number>> = { prefetch: 0.5, page: 1, data: 1, api: 4, other: 4 };

interface ShedOptions {
  readonly overload: Overload;
  /** True if a target is a page, or its data, that has to be rendered. */
  readonly isRendered: (target: string) => boolean;
  /** True for paths that are never refused. */
  readonly isExempt: (path: string) => boolean;
  readonly count?: Count | undefined;
}

/**
 * Refuses excess requests before any of their work begins: first prefetches, then pages and their data, and only if
 * that does not help, forms, the API and the rest. It runs after health, metrics and files, and never sees them.
 */
export function shed({ overload, isRendered, isExempt, count }: ShedOptions): Step {
  return function shed(req, res, next) {
    const { level } = overload;
    if (level < LEVELS.prefetch) return next();
    const { path, target } = requestInfo(req);
    const what = toWhat(req, path, () => isRendered(target));
    if (level < LEVELS[what] || isExempt(path)) return next();
    count?.('spillway_requests_shed_total', { what, reason: overload.reason });
    sendBusy(req, res, overload.reason);
  };
}

function toWhat(req: IncomingMessage, path: string, isRendered: () => boolean): What {
  if (isApiPath(path)) return 'api';
  if (!isRead(req) || !isRendered()) return 'other';
  // The only header of a client that has a meaning here.
  if (requestInfo(req).isPrefetch) return 'prefetch';
  return toPageUrl(path) === undefined ? 'page' : 'data';
}

/** `Retry-After` (s): random, so that not all visitors return at the same time. */
const SHORTEST_RETRY_AFTER = 3;
const RETRY_SPREAD = 5;

const POSTED: EngineText =
  'The site has too many visitors at the moment, so your form was not processed. Go back, where your input is still there, and send it again in a few seconds.';

/** Sends 503. A page reloads itself. A form does not, because the browser would request the page without its data. */
export function sendBusy(req: IncomingMessage, res: ServerResponse, reason: Overload['reason']): void {
  const info = requestInfo(req);
  const { path, language } = info;
  info.shed = reason;
  const wait = SHORTEST_RETRY_AFTER + Math.floor(Math.random() * RETRY_SPREAD);
  res.setHeader('Retry-After', wait);
  if (isApiPath(path)) {
    sendProblem(res, { kind: 'public', status: 503 });
    return;
  }
  // Also a form that is posted in the background: the page around it stays as it is.
  const isData = toPageUrl(path) !== undefined || req.headers.accept?.includes(ACTION_ACCEPT) === true;
  if (isData) {
    sendBody(res, 503, { type: 'application/json; charset=utf-8', body: '{"busy":true}\n' });
    return;
  }
  res.setHeader('Content-Security-Policy', PLAIN_PAGE_POLICY);
  if (isRead(req)) res.setHeader('Refresh', wait);
  const tell = teller(language);
  const body = isRead(req)
    ? `<p>${tell('The site has too many visitors at the moment. This page reloads in a few seconds.')} <a href="">${tell('Try again')}</a></p>`
    : `<p>${tell(POSTED)}</p>`;
  sendBody(res, 503, {
    type: HTML_TYPE,
    body: renderPlainPage(language, tell('One moment, please'), body),
  });
}
