import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { compress } from '../assets/compress.ts';
import { toCheckedHost } from '../protection/host.ts';
import { readHost, readScheme, toOrigin } from '../protection/host-check.ts';
import type { Origins } from '../protection/origins.ts';
import { isFromProxy, type ProxyTrust } from '../protection/proxy-trust.ts';
import { onClose } from '../request/on-close.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendJson, sendText } from '../request/send-body.ts';
import {
  type Counted,
  DOCTOR_BODY,
  DOCTOR_EVENTS,
  DOCTOR_SEEN,
  DOCTOR_STREAM,
  MAX_COUNTED_BYTES,
  type Seen,
  STREAM_PAUSE,
  STREAM_STEPS,
} from './doctor-protocol.ts';
import type { FixedPath, FixedPaths } from './fixed-paths.ts';
import { forReaders, type MayRead } from './may-read.ts';

export interface DoctorPageOptions {
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly mayRead: MayRead;
  /** Streams are compressed like pages. */
  readonly compression: boolean;
  /** The app has WebSockets. */
  readonly hasSockets: boolean;
}

/**
 * Answers `npm run doctor -- <origin>`, which tests a proxy: how the server sees a request, a stream of known steps,
 * and how much of a body arrives. It runs before the host check, so that it can report the host that a proxy sent. No
 * other site can make a browser send the token that it requires.
 */
export function doctorPage({ origins, trust, mayRead, compression, hasSockets }: DoctorPageOptions): FixedPaths {
  const compressed = compression ? compress() : undefined;
  function toSeen(req: IncomingMessage): Seen {
    const isPeerTrusted = isFromProxy(req, trust);
    const scheme = readScheme(req, isPeerTrusted);
    const host = readHost(req, isPeerTrusted);
    const checked = host === undefined ? undefined : toCheckedHost(host, scheme);
    const { address } = requestInfo(req);
    return {
      address,
      peer: req.socket.remoteAddress ?? '',
      peerPort: req.socket.remotePort ?? 0,
      isPeerTrusted,
      // No number of hops goes this far.
      isVisitorListed: trust(address, Number.POSITIVE_INFINITY),
      scheme,
      host,
      origin: checked === undefined ? undefined : toOrigin(checked, scheme, origins),
      hasOrigins: origins.configured.length > 0,
      hasSockets,
      headers: Object.keys(req.headers).sort(),
    };
  }

  function sendCompressed(req: IncomingMessage, res: ServerResponse, form: StreamForm): void {
    requestInfo(req).isStream = true;
    if (compressed) inFrontOf(compressed, req, res, () => sendSteps(res, form));
    else sendSteps(res, form);
  }

  function part(methods: 'GET' | 'POST', answer: FixedPath['answer']): FixedPath {
    return { methods, isHidden: true, answer: forReaders(mayRead, answer) };
  }

  return {
    [DOCTOR_SEEN]: part('GET', (req, res) => sendJson(res, 200, toSeen(req))),
    [DOCTOR_STREAM]: part('GET', (req, res) => sendCompressed(req, res, HTML)),
    [DOCTOR_EVENTS]: part('GET', (req, res) => sendCompressed(req, res, EVENTS)),
    [DOCTOR_BODY]: part('POST', countBody),
  };
}

/** Runs a step of Express that only needs what every request has. */
function inFrontOf(step: RequestHandler, req: IncomingMessage, res: ServerResponse, next: () => void): void {
  step(req as Request, res as Response, next);
}

interface StreamForm {
  readonly type: string;
  readonly toText: (step: number) => string;
}

/** So short that a proxy that waits for more holds it back. */
const HTML: StreamForm = { type: 'text/html; charset=utf-8', toText: (step) => `<p>step ${step}</p>\n` };
const EVENTS: StreamForm = { type: 'text/event-stream', toText: (step) => `data: step ${step}\n\n` };

function sendSteps(res: ServerResponse, { type, toText }: StreamForm): void {
  res.setHeader('Content-Type', type);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Accel-Buffering', 'no');
  let step = 0;
  const send = () => {
    step += 1;
    res.write(toText(step));
    if (step < STREAM_STEPS) return;
    clearInterval(timer);
    res.end();
  };
  const timer = setInterval(send, STREAM_PAUSE);
  onClose(res, () => clearInterval(timer));
  send();
}

/** Counts the bytes of a body without keeping them. */
function countBody(req: IncomingMessage, res: ServerResponse): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  // A caller that leaves needs no answer.
  req.on('error', () => undefined);
  req.on('end', () => {
    if (bytes > MAX_COUNTED_BYTES) sendText(res, 413, `At most ${MAX_COUNTED_BYTES} bytes are counted.`);
    else sendJson(res, 200, { bytes } satisfies Counted);
  });
}
