import { AsyncLocalStorage } from 'node:async_hooks';
import type { ComponentType, ErrorInfo, ReactNode } from 'react';
import { type PipeableStream, renderToPipeableStream } from 'react-dom/server';
import type { DocumentProps } from '../../../shared/engine/rendering/document.ts';
import { type Engine, EngineContext } from '../../../shared/engine/rendering/engine-context.ts';
import type { RouteTree } from '../../../shared/engine/routing/route-objects.ts';
import { RouterView } from '../../../shared/engine/routing/router-view.tsx';
import { createStandIn } from '../../../shared/engine/routing/stand-in.ts';
import type { PageError, PagePayload } from '../../../shared/engine/wire/payload.ts';
import { FRAME_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { escapeHtml } from '../errors/escape-html.ts';
import type { Funnel, Verdict } from '../errors/funnel.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { PageTimeout, type Visit } from './visit.ts';

export interface RenderOptions {
  readonly visit: Visit;
  readonly payload: PagePayload;
  readonly tree: RouteTree;
  readonly engine: Omit<Engine, 'nonce' | 'toPageError' | 'onRoute'>;
  readonly document: ComponentType<DocumentProps>;
  readonly lang: string;
  readonly funnel: Funnel;
  /** The funnel's word on a late value that was rejected. */
  readonly toLateError: (error: unknown) => PageError;
  /** Absent for a page that may be kept. */
  readonly nonce?: string;
  readonly preloads: readonly string[];
  /** Wait for everything, late values too: for crawlers and pages that are kept. */
  readonly whole: boolean;
  readonly deadlineMs: number;
  /**
   * Called in the moment in which the shell is ready, before other pages get their turn: what React
   * holds of the page is let go of at once, not when every page that came with it has been rendered.
   */
  readonly onReady: (page: RenderedPage) => void;
}

export type Rendered =
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'gone' }
  /** `onReady` was called, and returned. */
  | { readonly kind: 'page' };

/** A shell that is ready to be sent. */
export interface RenderedPage {
  /** What the page shows: the payload that came in, or the same with the error of a failed render. */
  readonly payload: PagePayload;
  /** The error that a render ended with before anything was sent. */
  readonly error?: PageError;
  pipe(sink: NodeJS.WritableStream, onLateOutcome: (markup: string) => void): void;
  /** Ends the deadline's clock. To be called when the page was sent or given up. */
  settle(): void;
}

/** The reason for which a render is given up because another one takes its place. */
class RenderReplaced extends Error {}

type Attempt = { readonly kind: 'failed'; readonly error: PageError; readonly routeId: string } | Rendered;

/**
 * Renders until a shell stands. A shell that fails is rendered again with the error in the place of
 * the innermost route that had begun, then one further out, as an error page may fail too.
 *
 * @throws the error of the outermost attempt, when even the frame could not be rendered
 */
export async function renderPage(options: RenderOptions): Promise<Rendered> {
  let { payload } = options;
  let shown: PageError | undefined;
  let limit = payload.routes.length;
  for (;;) {
    const attempt = await renderOnce({ ...options, payload }, shown);
    if (attempt.kind !== 'failed') return attempt;
    const place = Math.min(payload.routes.indexOf(attempt.routeId), limit - 1);
    if (place < 0) throw new LastResort(attempt.error);
    limit = place;
    shown = attempt.error;
    const routeId = payload.routes[place] ?? FRAME_ROUTE;
    payload = { ...payload, errors: { [routeId]: attempt.error } };
  }
}

/** No page could be made: the string page shows the error that is already known by its address. */
export class LastResort extends Error {
  readonly pageError: PageError;

  constructor(pageError: PageError) {
    super('Not even the error page could be rendered.');
    this.name = 'LastResort';
    this.pageError = pageError;
  }
}

function renderOnce(options: RenderOptions, error: PageError | undefined): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    const { nonce, whole, visit } = options;
    const run = new RenderRun({ options, error, resolve, reject });
    run.stream = renderToPipeableStream(<Page {...options} engine={toEngine(options, run)} />, {
      nonce,
      progressiveChunkSize: whole ? Number.POSITIVE_INFINITY : undefined,
      onError: run.onError,
      onShellReady: whole ? undefined : run.onReady,
      onAllReady: whole ? run.onReady : undefined,
      onShellError: run.onShellError,
    });
    // After a timeout the error page still has to be rendered: only who left ends that too.
    if (visit.endedBy instanceof VisitorGone) run.stream.abort(visit.endedBy);
  });
}

function toEngine({ engine, payload, nonce, toLateError }: RenderOptions, run: RenderRun): Engine {
  const shownErrors = Object.values(payload.errors ?? {});
  return {
    ...engine,
    nonce,
    // By identity: what looks like one may have been thrown, and carry words that nobody may read.
    toPageError: (thrown) => shownErrors.find((known) => known === thrown) ?? run.onLateError(toLateError(thrown)),
    onRoute(id) {
      run.innermost = id;
    },
  };
}

function toAttempt(verdict: Verdict, routeId: string): Attempt {
  if (verdict.kind === 'error') return { kind: 'failed', error: verdict.error, routeId };
  return verdict.kind === 'redirect' ? verdict : { kind: 'gone' };
}

function toLateAttempt(error: PageError, routeId: string): Attempt | undefined {
  const { kind, status, location } = error;
  if (kind === 'redirect' && location !== undefined) return { kind, status, location };
  return kind === 'failure' || kind === 'public' ? undefined : { kind: 'failed', error, routeId };
}

interface RenderJob {
  readonly options: RenderOptions;
  readonly error: PageError | undefined;
  readonly resolve: (attempt: Attempt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What one try at rendering a page has come to. React holds its callbacks until the next turn of the
 * event loop, when the pages of many visitors may have been sent: so they hold this object alone, and
 * it lets go of the page once that is settled.
 */
class RenderRun {
  stream: PipeableStream | undefined;
  /** The route that began last. */
  innermost = FRAME_ROUTE;
  #job: RenderJob | undefined;
  #early: Attempt | undefined;
  #onLateOutcome: ((markup: string) => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  /**
   * React calls back in an async context of its own, which holds the whole page: what is begun in it,
   * such as a socket's timer, would keep the page in memory for as long as the visitor is idle.
   */
  readonly #asVisitor = AsyncLocalStorage.snapshot();

  constructor(job: RenderJob) {
    const { visit, deadlineMs } = job.options;
    this.#job = job;
    this.#timer = setTimeout(() => {
      const timeout = new PageTimeout(deadlineMs);
      visit.abort(timeout); // loaders and late values stop too
      this.stream?.abort(timeout);
    }, deadlineMs);
    visit.onAbort((reason) => this.stream?.abort(reason));
  }

  /** @returns what React puts into `data-dgst` */
  readonly onError = (thrown: unknown, { componentStack }: ErrorInfo = {}): string | undefined => {
    if (!this.#job) return undefined;
    const { funnel, visit } = this.#job.options;
    const verdict = funnel.fail(thrown, { ...visit.describe('render'), componentStack: componentStack ?? undefined });
    if (verdict.kind === 'visitor-gone') {
      this.#early ??= { kind: 'gone' };
      return undefined;
    }
    if (verdict.kind === 'redirect') {
      this.#early ??= verdict;
      this.#onLateOutcome?.(`<meta http-equiv="refresh" content="0;url=${escapeHtml(verdict.location)}">`);
      return 'redirect';
    }
    if (verdict.error.kind === 'failure') return verdict.error.digest;
    this.#early ??= { kind: 'failed', error: verdict.error, routeId: this.innermost };
    this.#onLateOutcome?.('<meta name="robots" content="noindex">');
    return verdict.error.kind;
  };

  /**
   * As long as nothing was sent, which is to the end where everything is waited for, an outcome of a
   * late value ends the page as one of its shell does. A failure and a public error cost their own place.
   */
  onLateError(error: PageError): PageError {
    this.#early ??= toLateAttempt(error, this.innermost);
    return error;
  }

  readonly onShellError = (thrown: unknown): void => {
    const job = this.#settle();
    if (!job) return;
    job.resolve(
      this.#early ?? toAttempt(job.options.funnel.fail(thrown, job.options.visit.describe('render')), this.innermost),
    );
  };

  readonly onReady = (): void => this.#asVisitor(() => this.#hand());

  #hand(): void {
    const job = this.#job;
    if (!job) return;
    if (this.#early) {
      this.#replace();
      job.resolve(this.#early);
      return;
    }
    try {
      job.options.onReady({
        payload: job.options.payload,
        error: job.error,
        settle: () => void this.#settle(),
        pipe: (sink, onLate) => {
          this.#onLateOutcome = onLate;
          this.stream?.pipe(sink);
        },
      });
      job.resolve({ kind: 'page' });
    } catch (thrown) {
      this.#replace();
      job.reject(thrown);
    }
  }

  /** Another page takes the place of this one. */
  #replace(): void {
    this.#settle();
    this.stream?.abort(new RenderReplaced());
  }

  #settle(): RenderJob | undefined {
    const job = this.#job;
    this.#job = undefined;
    this.#onLateOutcome = undefined;
    clearTimeout(this.#timer);
    job?.options.visit.onAbort(undefined);
    return job;
  }
}

function Page({
  payload,
  tree,
  engine,
  document: Document,
  lang,
  visit,
  nonce,
  preloads,
}: RenderOptions & { engine: Engine }): ReactNode {
  const location = {
    pathname: visit.path,
    search: visit.search,
    hash: '',
    state: null,
    key: 'default',
    mask: undefined,
  };
  const router = createStandIn(tree, payload, location, NO_NAVIGATION);
  const head = preloads.map((href) => <link key={href} rel="modulepreload" href={href} nonce={nonce} />);
  return (
    <EngineContext value={engine}>
      <Document lang={lang} head={head}>
        <RouterView router={router} />
      </Document>
    </EngineContext>
  );
}

const NO_NAVIGATION = {
  navigate: refuseNavigation,
  fetch: refuseNavigation,
  revalidate: refuseNavigation,
  deleteBlocker: () => {}, // called by effects, which do not run here
};

function refuseNavigation(): Promise<never> {
  throw new Error(
    `navigate() was called while a page was rendered on the server. Call it in an effect or an event handler, or throw redirect().`,
  );
}
