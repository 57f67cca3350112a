import type { Server } from 'node:http';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { type Response, Router } from 'express';
import type { Logger } from 'pino';
import {
  DEV_EVENTS,
  DEV_FAILURES,
  DEV_FRAMES,
  DEV_STATE,
  type DevError,
  type DevState,
  type ThrownInBrowser,
} from '../../shared/develop-protocol.ts';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { jsonBody } from '../api/body-parsers.ts';
import { toListenError } from '../connection/listen-on.ts';
import type { FailureContext } from '../errors/funnel.ts';
import { type PublicFile, readPublicFile } from '../front/public-files.ts';
import { toPageUrl } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { onClose, type Step } from '../request/step.ts';
import { toBrowserError, toDevError, withLocations } from './dev-error.ts';
import { warnOfUnanswered } from './unanswered.ts';

/** The messages of the supervisor (`bin/develop.mjs`) to the server. */
type FromSupervisor =
  | {
      readonly type: 'handover';
      readonly state: DevState;
      readonly isFirst: boolean;
      /** The latest failures of earlier servers, by address. */
      readonly failures: readonly (readonly [address: string, error: DevError])[];
    }
  | { readonly type: 'state'; readonly state: DevState }
  | { readonly type: 'refused'; readonly code: string };

type Handover = Extract<FromSupervisor, { readonly type: 'handover' }>;

/**
 * The server's side of `npm run dev`. Resolves when the process before this one has ended, so that everything that
 * only one process can open is free.
 */
export async function createDevelopment({ dist, log }: { dist: string; log: Logger }) {
  const streams = new Set<Response>();
  // An error that an app emits, such as that of listen(), ends this process before the previous one is stopped.
  await nextIteration();
  const handover = await waitForHandover();
  let { state } = handover;
  process.on('message', (message: FromSupervisor) => {
    if (message.type !== 'state') return;
    const { error } = message.state;
    state = error ? { ...message.state, error: withLocations(error, dist) } : message.state;
    for (const stream of streams) send(stream);
  });
  process.on('disconnect', () => process.exit(0)); // without its supervisor it would hold the port forever

  function send(stream: Response): void {
    stream.write(`data: ${JSON.stringify(state)}\n\n`);
  }

  const failures = new Map(handover.failures);

  function onFailure(address: string, error: unknown, context: FailureContext): void {
    const { info, origin, routeId } = context;
    const url = context.url?.replace(/\?.*$/s, '') ?? info?.path;
    const ofRoute = routeId === undefined ? '' : ` of "${routeId}"`;
    const title = `${info?.method ?? ''} ${url ?? ''} failed (${origin}${ofRoute})`.trim();
    const failure = toDevError(title, error, context.componentStack, dist);
    failures.set(address, failure);
    // A page can ask for it after this server was replaced.
    process.send?.({ type: 'failure', failure: [address, failure] });
  }

  const routes = Router();
  routes.use(warnOfUnanswered(log), warnOfCookies(log));
  routes.get(`${DEV_FAILURES}/:address`, (req, res) => {
    const error = failures.get(req.params.address);
    res
      .status(error ? 200 : 404)
      .set('Cache-Control', 'no-store')
      .json(error ?? null);
  });
  routes.post(DEV_FRAMES, ...jsonBody(), (req, res) => {
    res.json(toBrowserError(req.body as ThrownInBrowser, dist, state)); // usually from the engine's own script
  });
  routes.get(DEV_STATE, (_req, res) => {
    res.set('Cache-Control', 'no-store').json(state);
  });
  routes.get(DEV_EVENTS, (_req, res) => {
    res.setHeader('Content-Type', 'text/event-stream');
    res.setHeader('Cache-Control', 'no-store, no-transform');
    res.setHeader('X-Accel-Buffering', 'no');
    // If it stayed open, a proxy could send the next request on it while the server closes it.
    res.setHeader('Connection', 'close');
    send(res);
    streams.add(res);
    onClose(res, () => streams.delete(res));
  });

  return {
    /** No earlier server has listened, so notices about the settings are not in the terminal yet. */
    isFirst: handover.isFirst,
    /** `/_dev/…`: the state of the build, and a stream of its changes. Watches all other requests. */
    routes,
    /** Remembers a failure for the page that shows its address. */
    onFailure,
    /** The client's files, looked up on request: a build adds some while the server runs. */
    files: new FilesOnDemand(join(dist, 'client')),
    /** Listens on the socket that the supervisor holds, so that no request is refused while servers are exchanged. */
    listen: listenOnShared,
  };
}

function waitForHandover(): Promise<Handover> {
  return new Promise((resolve) => {
    process.on('message', function onMessage(message: FromSupervisor) {
      if (message.type !== 'handover') return;
      process.off('message', onMessage);
      resolve(message);
    });
    process.send?.({ type: 'loaded' });
  });
}

function listenOnShared(server: Server, where: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    process.on('message', function onMessage(message: FromSupervisor | { type: 'socket' }, handle: unknown) {
      if (message.type === 'refused') reject(toListenError(message.code, where));
      if (message.type !== 'socket') return;
      process.off('message', onMessage);
      server.once('error', reject);
      server.listen(handle, () => {
        process.send?.({ type: 'listening' });
        resolve();
      });
    });
    process.send?.({ type: 'listen', ...where });
  });
}

/** The part of `Map` that the step `assets()` uses. */
class FilesOnDemand extends Map<string, PublicFile> {
  readonly #directory: string;

  constructor(directory: string) {
    super();
    this.#directory = directory;
  }

  override has(url: string): boolean {
    return this.get(url) !== undefined;
  }

  override get(url: string): PublicFile | undefined {
    const known = super.get(url);
    if (known) return known;
    const file = readPublicFile(this.#directory, url);
    // A name without a hash can be another file the next time.
    if (file && url.startsWith(ASSET_PREFIX)) this.set(url, file);
    return file;
  }
}

/** Warns once for each cookie that a prefetch changes: pointing at a link to `/sign-out` must not sign out. */
function warnOfCookies(log: Pick<Logger, 'warn'>): Step {
  const known = new Set<string>();
  return function warnOfCookies(req, res, next) {
    const info = requestInfo(req);
    const path = toPageUrl(info.path) ?? info.path;
    if (info.isPrefetch) res.once('finish', warn);
    next();

    function warn(): void {
      const sent = (req.headers.cookie ?? '').split(/; */);
      for (const cookie of [res.getHeader('Set-Cookie') ?? []].flat()) {
        const [pair = ''] = String(cookie).split(';', 1);
        const name = pair.replace(/=.*$/s, '');
        // The same value only lasts longer, as in a session that rolls.
        if (sent.includes(pair) || known.has(`${path} ${name}`)) continue;
        known.add(`${path} ${name}`);
        log.warn({ path, cookie: name }, CHANGED);
      }
    }
  };
}

const CHANGED =
  'A prefetch changed a cookie, so pointing at a link does what a click does. If the page changes something, such as signing out, make it an action. If a guard or loader must set the cookie, do so only if args.isPrefetch is false, or give the link prefetch="none".';
