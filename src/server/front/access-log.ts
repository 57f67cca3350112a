import pino, { type Level, type Logger } from 'pino';
import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import { PROBE_PATHS } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { brokenResponses, cutResponses, isStream, type Step } from '../request/step.ts';
import type { InFlight } from './in-flight.ts';
import type { Metrics } from './metrics.ts';

/** Requests for them are logged at the level `debug`. */
const QUIET: ReadonlySet<string> = new Set(PROBE_PATHS);

/** The route of an existing app's requests in metrics. Those that it does not find are often scans. */
const EXISTING_APP = 'existing app';

/** The status that nginx logs if the client leaves before there is one. */
const CLIENT_CLOSED = 499;
/** The status of a request that a stop cut before its response began. */
const CUT = 503;

/** In metrics, the status of a response that the server broke off. */
const BROKEN = 500;

interface AccessLogOptions {
  readonly log: Logger;
  /** Tracks the request while it is being answered. */
  readonly inFlight?: InFlight | undefined;
  readonly scrubPath: ScrubPath;
  /** Receives each reply that has ended. */
  readonly metrics?: Pick<Metrics, 'observeRequest'> | undefined;
}

/**
 * Logs one line when a reply is complete or its visitor has left. The query is not logged, because it can contain
 * tokens and names.
 */
export function accessLog({ log, inFlight, scrubPath, metrics }: AccessLogOptions): Step {
  const writeInfo = createLineWriter(log, 'info');
  const writeDebug = createLineWriter(log, 'debug');
  return function accessLog(req, res, next) {
    // Node removes the socket from a request whose body was not read.
    const { socket } = req;
    const before = socket.bytesWritten;
    const info = requestInfo(req);
    inFlight?.add();
    // It closes once, and `once()` would take as long as several steps.
    res.on('close', () => {
      inFlight?.delete(info);
      info.keepRoute();
      const { method, path, pattern: route } = info;
      const isCut = !res.writableFinished && cutResponses.has(res);
      const isBroken = !res.writableFinished && !isCut && Boolean(brokenResponses.has(res) || res.errored);
      const isGone = !res.writableFinished && !isCut && !isBroken;
      const unsent = isCut ? CUT : CLIENT_CLOSED;
      const status = (isGone || isCut) && !res.headersSent ? unsent : res.statusCode;
      const ms = performance.now() - info.startedAt;
      // A stream lasts as long as its client wants.
      if (metrics && !isStream(res)) {
        const found = info.isExistingApps ? (status === 404 ? undefined : EXISTING_APP) : route;
        metrics.observeRequest({ method, route: found, status: isBroken ? BROKEN : status, isGone, ms });
      }
      const isQuiet = QUIET.has(path);
      if (!log.isLevelEnabled(isQuiet ? 'debug' : 'info')) return;
      const write = isQuiet ? writeDebug : writeInfo;
      // Of a URL that was refused or redirected for its spelling, only what was sent is known.
      const asked = path === '/' && status >= 300 ? (req.url ?? '').replace(/\?.*/s, '') : path;
      write({
        requestId: info.requestId,
        traceId: info.knownTraceId,
        method,
        path: scrubPath(asked, route),
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        bytes: socket.bytesWritten - before,
        address: info.address,
        digest: info.digest,
        shed: info.shed,
        gone: isGone || undefined,
        cut: isCut || undefined,
        broken: isBroken || undefined,
        msg: 'request',
      });
    });
    next();
  };
}

/** What pino makes for a logger, of which a line consists. */
interface LineParts {
  readonly [pino.symbols.lsCacheSym]: Readonly<Record<number, string>>;
  readonly [pino.symbols.chindingsSym]: string;
  readonly [pino.symbols.timeSym]: () => string;
  readonly [pino.symbols.streamSym]: pino.DestinationStream;
}

/**
 * Writes lines like those of the logger, from an object that has `msg` and no errors. One line of pino, which asks for
 * the serializer of each field, takes three times as long.
 */
function createLineWriter(log: Logger, level: Level): (line: object) => void {
  const parts = log as unknown as LineParts;
  const start = parts[pino.symbols.lsCacheSym][log.levels.values[level] ?? 0] ?? '';
  const stream = parts[pino.symbols.streamSym];
  return (line) => {
    const time = parts[pino.symbols.timeSym]() + parts[pino.symbols.chindingsSym];
    stream.write(`${start}${time},${JSON.stringify(line).slice(1)}\n`);
  };
}
