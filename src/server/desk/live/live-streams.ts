import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { LIVE_CHANGES, LIVE_PATH, LIVE_PING } from '../../../shared/desk/live/live-protocol.ts';
import { API_POLICY } from '../../engine/protection/content-policy.ts';
import { isOfThisSite } from '../../engine/protection/cross-site.ts';
import type { Origins } from '../../engine/protection/origins.ts';
import { onClose } from '../../engine/request/on-close.ts';
import { refuse } from '../../engine/request/refuse.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import { sendText } from '../../engine/request/send-body.ts';
import type { Access, ReadAccess } from '../access/access.ts';
import { sessionCookieOf } from '../access/credentials.ts';
import {
  LIVE_PING_INTERVAL,
  LIVE_RETRY_LONGEST,
  LIVE_RETRY_SHORTEST,
  LIVE_STREAM_AGE,
  MAX_LIVE_STREAMS,
  MAX_LIVE_STREAMS_OF_SESSION,
} from '../limits.ts';
import type { ChangeWatch } from './watch-changes.ts';

export interface LiveStreams {
  /** Answers `GET /desk/live` and passes other requests on. */
  readonly step: RequestHandler;
  /** Ends all streams, for a drain. Each browser reconnects after a different time. */
  endAll(): void;
  /** The number of open streams. */
  readonly size: number;
}

export interface LiveStreamsOptions {
  readonly watch: ChangeWatch;
  readonly readAccess: ReadAccess;
  readonly origins: Origins;
  /** Milliseconds, for tests. */
  readonly pingInterval?: number;
}

/**
 * Notifies open pages of the desk that something changed, without details. The pages then load their data as usual. A
 * stream needs a signed-in operator. The session is checked again with each ping, and the stream ends with the session.
 */
export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { watch, readAccess, origins, pingInterval = LIVE_PING_INTERVAL } = options;
  const streams = new Map<ServerResponse, string>();
  let isEnding = false;

  async function answer(req: Request, res: Response): Promise<void> {
    if (!isOfThisSite(req, origins)) return refuse(req, res, 403, 'This request comes from another site.');
    const access = await readAccess(req, res);
    if (res.closed) return;
    if (access.isAway) return refuse(req, res, 503, 'The desk’s store is unavailable at the moment.');
    if (!access.operator) return refuse(req, res, 401, 'Sign in to the desk first.');
    if (isEnding) return refuse(req, res, 503, 'This server is about to stop. Try again in a few seconds.');
    const holder = toHolder(req, access);
    if (streams.size >= MAX_LIVE_STREAMS || countOf(holder) >= MAX_LIVE_STREAMS_OF_SESSION) {
      return sendText(
        res,
        429,
        'Too many pages of the desk are open with live updates. This page tries again in about a minute.',
      );
    }
    setHeaders(res);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    open(req, res, holder);
  }

  function countOf(holder: string): number {
    let count = 0;
    for (const other of streams.values()) if (other === holder) count++;
    return count;
  }

  function open(req: Request, res: Response, holder: string): void {
    const info = requestInfo(req);
    info.isStream = true;
    info.route = info.path;
    streams.set(res, holder);
    let isDue = false;
    const send = (name: string) => {
      if (res.writableEnded) return;
      // If the client does not read, one event is sent later, when the buffer is empty.
      if (res.writableLength > 0) isDue ||= name === LIVE_CHANGES;
      else res.write(toEvent(name));
    };
    const stopListening = watch.listen(() => send(LIVE_CHANGES));
    const pings = setInterval(() => void ping(), pingInterval).unref();
    const age = setTimeout(() => res.end(), LIVE_STREAM_AGE).unref();
    onClose(res, () => {
      stopListening();
      clearInterval(pings);
      clearTimeout(age);
      streams.delete(res);
    });
    res.write(`retry: ${toRetry()}\n\n${toEvent(LIVE_PING)}`);

    async function ping(): Promise<void> {
      if (!(await isSignedIn(req, res))) {
        res.end();
        return;
      }
      const isMissed = isDue && res.writableLength === 0;
      if (isMissed) isDue = false;
      send(isMissed ? LIVE_CHANGES : LIVE_PING);
    }
  }

  /** Keeps the stream open while the store is unavailable. */
  async function isSignedIn(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const { operator, isAway } = await readAccess(req, res);
    return isAway || operator !== undefined;
  }

  return {
    async step(req, res, next) {
      const isAsked = requestInfo(req).path === LIVE_PATH && (req.method === 'GET' || req.method === 'HEAD');
      if (isAsked) await answer(req, res);
      else next();
    },
    endAll() {
      isEnding = true;
      for (const res of streams.keys()) res.end();
    },
    get size() {
      return streams.size;
    },
  };
}

/** Returns the key by which streams are counted: the session, or the name of an operator that a proxy signs in. */
function toHolder(req: IncomingMessage, { operator }: Access): string {
  return sessionCookieOf(req) ?? operator?.name ?? '';
}

function setHeaders(res: ServerResponse): void {
  res.statusCode = 200;
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // Neither caching, nor compression or buffering by a proxy, which would delay events.
  res.setHeader('Cache-Control', 'no-store, no-transform');
  res.setHeader('X-Accel-Buffering', 'no');
  res.setHeader('Content-Security-Policy', API_POLICY);
}

function toEvent(name: string): string {
  return `event: ${name}\ndata:\n\n`;
}

/** Returns a random wait (ms), so that browsers do not all reconnect at once after a restart. */
function toRetry(): number {
  return Math.round(LIVE_RETRY_SHORTEST + Math.random() * (LIVE_RETRY_LONGEST - LIVE_RETRY_SHORTEST));
}
