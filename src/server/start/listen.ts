import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { type ControlFlowResponse, isControlFlow } from '../../shared/routing/control-flow.ts';
import { Millisecond, Second } from '../../shared/units.ts';
import type { Config } from '../config.ts';
import { readOpenFileLimit } from '../connection/admission.ts';
import type { Connections } from '../connection/connections.ts';
import { listenOn, toHttpUrl } from '../connection/listen-on.ts';
import { describeNodeFloor } from '../connection/node-floor.ts';
import { createStop, onStopSignal } from '../connection/stop.ts';
import { errorHandler } from '../errors/error-handler.ts';
import type { Funnel } from '../errors/funnel.ts';
import { RESERVED_FILES } from '../limits.ts';
import { currentRequest, isOfRequest, type RequestInfo } from '../request/request-info.ts';
import type { Connected } from './connect.ts';
import type { Opened } from './open.ts';

/** How long a crashing process can block to store its last failures (ms). */
const FLUSH_TIME = 1 * Second;
/** The time for closing after the last response (ms): 3 s for the product's services, then 6 s for the tracker. */
const CLOSE_TIME = 10 * Second;
/** With fewer open files, half of them are not enough for connections and the rest (a count). */
const ENOUGH_FILES = 2 * RESERVED_FILES;
/** From the first answers until the compiled code is written to the cache (ms). */
const CACHE_AFTER = 500 * Millisecond;

/**
 * Listens on all ports, and serves until a signal or an uncaught exception ends the process.
 *
 * @throws StartError
 */
export async function listen(opened: Opened, { main, second, drain }: Connected): Promise<void> {
  const { basics, failures, declared, development, tracker, close, flush } = opened;
  const { config, log } = basics;
  const isFirst = development?.isFirst !== false;
  const within = config.drainLag + config.drainDeadline + CLOSE_TIME;
  const stop = createStop({ drain, close, within, log, exit });
  watchProcess({
    ...{ funnel: failures.funnel, log, stop, flushSync: () => tracker?.flushSync(FLUSH_TIME) },
    connections: [main, second].flatMap((port) => port?.connections ?? []),
  });
  onStopSignal((signal) => stop(0, signal));
  let url: string;
  let secondUrl: string | undefined;
  try {
    url = development ? toHttpUrl(config.host, config.port) : await listenOn(main.server, config);
    await development?.listen(main.server, config);
    if (second && config.deskPort !== undefined)
      secondUrl = await listenOn(second.server, { host: config.host, port: config.deskPort, setting: 'DESK_PORT' });
    announce(url, log);
    keepRequestsYoung();
    if (secondUrl !== undefined) log.info(`Also listening on ${secondUrl}${declared?.paths[0] ?? ''}`);
  } catch (error) {
    // Otherwise the next start would report that this process died.
    await tracker?.close();
    throw error;
  }
  await tracker?.ready(secondUrl ?? config.publicOrigins[0] ?? url, isFirst);
  // After the link to the desk, which is what a new user needs first.
  if (isFirst) logAdvice(config, log);
  if (!development) warnOfNode(log);
  // So that a process that is killed also makes the next start faster.
  setTimeout(flushCompileCache, CACHE_AFTER).unref();

  function exit(code: number): void {
    tracker?.markEnded?.();
    flush();
    process.exit(code);
  }
}

interface ProcessFaultsOptions {
  readonly funnel: Funnel;
  readonly log: Logger;
  /** Drains and ends the process with this code. */
  readonly stop: (code: number) => void;
  /** Writes out buffered failures synchronously, because the process can end before the next write. */
  readonly flushSync?: () => void;
  /** Those of each port. */
  readonly connections?: readonly Connections[];
}

/** How long the rest of a request whose code ends the server can take to answer it (ms). */
const CRASH_GRACE = 1 * Second;

/**
 * Handles errors that nothing else caught. An unhandled rejection with a request in its context is that request's
 * failure, and the process continues. Everything else leaves the process in an unknown state, so it drains and exits.
 * Requests in flight are finished, and the one whose code threw gets its error page. If the product or an existing app has a handler too, that handler decides whether the
 * process continues, as it does in Node. The failure is recorded before, because such a handler can exit.
 *
 * @returns a function that removes the handlers
 */
export function watchProcess({ funnel, log, stop, flushSync, connections = [] }: ProcessFaultsOptions): () => void {
  const fail = errorHandler({ funnel });

  function handleRejection(rejected: unknown): void {
    const info = currentRequest();
    const reason = isControlFlow(rejected) ? toUnawaited(rejected) : rejected;
    if (info) funnel.fail(reason, { origin: 'request', info });
    else if (process.listenerCount('unhandledRejection') > 1) funnel.fail(reason, { origin: 'process' });
    else process.emit('uncaughtException', reason as Error, 'unhandledRejection');
  }

  function handleException(error: unknown): void {
    const endsServer = process.listenerCount('uncaughtException') === 1;
    const disposition = funnel.fail(error, { origin: 'process', endsServer });
    if (disposition.kind === 'gone') return;
    flushSync?.();
    if (!endsServer) return;
    log.fatal('Nothing caught an error. The server finishes the requests in flight, then exits.');
    const info = currentRequest();
    if (info) setTimeout(() => answer(error, info), CRASH_GRACE);
    stop(1);
  }

  /** Nothing else will answer it, and the drain would wait for that until its deadline. */
  function answer(error: unknown, info: RequestInfo): void {
    const replies = connections.flatMap((port) => [...port.sockets].flatMap((socket) => port.openReplies(socket)));
    const reply = replies.find(({ req }) => isOfRequest(req, info));
    if (reply?.headersSent === false) fail(error, reply.req, reply, () => {});
  }

  process.prependListener('unhandledRejection', handleRejection);
  process.prependListener('uncaughtException', handleException);
  return () => {
    process.off('unhandledRejection', handleRejection);
    process.off('uncaughtException', handleException);
  };
}

/** Prints the URL at any log level and at once, because tools wait for this line. */
function announce(url: string, log: Logger): void {
  if (log.isLevelEnabled('info')) log.info(`Listening on ${url}`);
  else console.log(`Listening on ${url}`); // which ignores an output that cannot be written
  log.flush(); // not the flush for the end of a process, which waits while the output is blocked
}

/**
 * Lets V8 allocate all parts of requests in the young generation. At the start, when it is small, most of them survive its
 * collections. From that, V8 would conclude to allocate such objects in the old generation, where each keeps its page until
 * the next full collection. Call it once the server listens: afterwards, Node loads its own modules three times slower.
 */
function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

function warnOfNode(log: Logger): void {
  const words = describeNodeFloor(process.versions.node);
  if (words !== undefined) log.warn(words);
}

/** Logs settings that are worth changing. */
function logAdvice({ publicOrigins, isLoopback }: Config, log: Logger): void {
  if (isLoopback) {
    const more = publicOrigins.length === 0 ? ' In production, also set PUBLIC_ORIGINS=https://example.com.' : '';
    log.info(`Listening on localhost only. Set HOST=0.0.0.0 to accept outside connections.${more}`);
  } else if (publicOrigins.length === 0) {
    log.warn(
      'PUBLIC_ORIGINS is not set: requests for any host are accepted. Set it in production, for example PUBLIC_ORIGINS=https://example.com.',
    );
  }
  const openFiles = readOpenFileLimit() ?? ENOUGH_FILES;
  if (openFiles < ENOUGH_FILES)
    log.warn(
      `The system lets the server open only ${openFiles} files, so it can refuse visitors. Set "ulimit -n" to ${ENOUGH_FILES} or more.`,
    );
}

/** A guard that does not await such a call lets everybody through, so it is a failure. */
function toUnawaited(cause: ControlFlowResponse): Error {
  const message = `A "${cause.kind}" response was thrown in a promise that nothing awaited, so it had no effect. Await the call.`;
  return new Error(message, { cause });
}
