import type { IncomingMessage } from 'node:http';
import type { Count } from '../monitoring/count.ts';
import { toPageUrl } from '../pages/page-url.ts';
import { isApiPath } from '../request/api-path.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { sendBusy } from './busy-page.ts';
import type { Overload } from './overload.ts';

/** The kind of a request: the label `what` of `spillway_requests_shed_total`. */
type What = 'prefetch' | 'page' | 'data' | 'api' | 'other';

export interface ShedOptions {
  readonly overload: Pick<Overload, 'level' | 'reason'>;
  /** True if a page, or its data, is rendered for each request. One from memory costs less than a refusal. */
  readonly isRendered: (path: string) => boolean;
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
    if (level === 0) return next();
    const { path } = requestInfo(req);
    const what = toWhat(req, path, isRendered);
    if (level < LEVELS[what] || isExempt(path)) return next();
    count?.('spillway_requests_shed_total', { what, reason: overload.reason ?? 'renders' });
    sendBusy(req, res);
  };
}

/** The level from which each kind is refused. */
const LEVELS: Readonly<Record<What, number>> = { prefetch: 1, page: 2, data: 2, api: 3, other: 3 };

function toWhat(req: IncomingMessage, path: string, isRendered: (path: string) => boolean): What {
  if (isApiPath(path)) return 'api';
  if ((req.method !== 'GET' && req.method !== 'HEAD') || !isRendered(path)) return 'other';
  // The only header of a client that has a meaning here.
  if (req.headers.purpose === 'prefetch') return 'prefetch';
  return toPageUrl(path) === undefined ? 'page' : 'data';
}
