import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { requestInfo } from '#engine/server';
import { API_POLICY, isOfThisSite, isRead, type Origins, onClose, refuse } from '#engine/tracker';
import { LIVE_EVENT, LIVE_PATH } from '../../shared/live.ts';
import type { ReadAccess } from '../access/access.ts';
import { LIVE_PING_INTERVAL, LIVE_POLL_INTERVAL, MAX_LIVE_STREAMS } from '../desk-limits.ts';

interface LiveOptions {
  /** Returns a number that grows with each change, over all replicas. */
  readonly readChanges: () => Promise<number>;
  readonly readAccess: ReadAccess;
  readonly origins: Origins;
  /** Milliseconds, for tests. */
  readonly pingInterval?: number | undefined;
}

const EVENT = `event: ${LIVE_EVENT}\ndata:\n\n`;
const PING = ': ping\n\n';

/**
 * Tells open pages of the desk that something changed, without details. The pages then load their data as usual. A
 * stream needs a signed-in user, is checked with each ping, and ends when the user is no longer signed in.
 */
export function createLive({
  readChanges,
  readAccess,
  origins,
  pingInterval = LIVE_PING_INTERVAL,
}: LiveOptions): RequestHandler {
  const streams = new Set<ServerResponse>();
  let known: number | undefined;
  let _polling: NodeJS.Timeout | undefined;

  /** Polls only while a page is open. However much changes, each page gets one event per interval. */
  async function poll(): Promise<void> {
    // An unavailable store counts as unchanged. What the journal holds becomes a change when the store is back.
    const changes = await readChanges().catch(() => known);
    if (known !== undefined && changes !== known) for (const stream of streams) send(stream, EVENT);
    known = changes;
    _polling = streams.size > 0 ? setTimeout(() => void poll(), LIVE_POLL_INTERVAL).unref() : undefined;
  }

  async function answer(req: Request, res: Response): Promise<void> {
    if (!isOfThisSite(req, origins)) return refuse(req, res, 403, 'This request comes from another site.');
    const access = await readAccess(req, res);
    if (res.closed) return;
    if (access.isAway) return refuse(req, res, 503, 'The desk’s store is unavailable at the moment.');
    if (!access.operator) return refuse(req, res, 401, 'Sign in to the desk first.');
    if (streams.size >= MAX_LIVE_STREAMS) return refuse(req, res, 503, 'Too many pages of the desk are open.');
    open(req, res);
  }

  function open(req: Request, res: Response): void {
    const info = requestInfo(req);
    info.route = info.path;
    res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    // Neither caching, nor compression or buffering by a proxy, which would delay events.
    res.setHeader('Cache-Control', 'no-store, no-transform');
    res.setHeader('X-Accel-Buffering', 'no');
    res.setHeader('Content-Security-Policy', API_POLICY);
    if (req.method === 'HEAD') return void res.end();
    streams.add(res);
    _polling ??= setTimeout(() => void poll(), 0).unref();
    const pings = setInterval(() => void ping().catch(() => res.end()), pingInterval).unref();
    onClose(res, () => {
      clearInterval(pings);
      streams.delete(res);
    });
    res.write(EVENT);

    async function ping(): Promise<void> {
      const { operator, isAway } = await readAccess(req, res);
      // A stream stays open while the store is unavailable.
      if (operator || isAway) send(res, PING);
      else res.end();
    }
  }

  /** Answers `GET /desk/live` and passes other requests on. */
  return async function live(req, res, next) {
    const isAsked = requestInfo(req).path === LIVE_PATH && isRead(req);
    if (isAsked) await answer(req, res);
    else next();
  };
}

/** A client that does not read loses its stream: it gets an event when it connects again. */
function send(res: ServerResponse, text: string): void {
  if (res.writableLength > 0) res.destroy();
  else if (!res.writableEnded) res.write(text);
}
