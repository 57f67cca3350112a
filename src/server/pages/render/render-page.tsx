import type { ErrorInfo } from 'react';
import { type PipeableStream, renderToPipeableStream, resumeToPipeableStream } from 'react-dom/server';
import type { PostponedState } from 'react-dom/static';
import type { Engine } from '../../../shared/rendering/engine-context.ts';
import type { AssetManifest } from '../../../shared/wire/manifest.ts';
import type { PageError, PagePayload } from '../../../shared/wire/payload.ts';
import { FRAME_ROUTE } from '../../../shared/wire/protocol.ts';
import { escapeHtml } from '../../errors/escape-html.ts';
import type { Disposition } from '../../errors/funnel.ts';
import { VisitorGone } from '../../request/http-error.ts';
import type { Redirect } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import type { LoadedPageApp } from '../page-runtime.ts';
import { toPageErrorOf } from './encode-page.ts';
import { PageSink, type PageTarget, type PageTexts } from './page-sink.ts';
import { PageTree } from './page-tree.tsx';
import { Prerender } from './prerender.ts';

/** The input of a render, besides the payload. */
interface RenderOptions {
  readonly runtime: {
    readonly app: Pick<LoadedPageApp, 'tree' | 'modules' | 'document' | 'errorPages'>;
    readonly server: { readonly manifest: AssetManifest };
  };
  readonly pageRequest: PageRequest;
  /** Absent for a static page. */
  readonly nonce?: string | undefined;
  /** Render a shell, and postpone its holes. */
  readonly isShell?: boolean;
  /** React's state of a shell that was sent already (JSON): render only its holes. */
  readonly postponed?: string;
}

export type Rendered =
  | Redirect
  | { readonly kind: 'gone' }
  /** Not even the error page could be rendered. The error already has an address. */
  | { readonly kind: 'last-resort'; readonly error: PageError }
  | RenderedPage;

/** A page whose shell is ready to be sent. */
export interface RenderedPage {
  readonly kind: 'page';
  /** The given payload, or the same with the error of a failed render. */
  readonly payload: PagePayload;
  /** The error that a render ended with before anything was sent. */
  readonly error: PageError | undefined;
  readonly render: Render;
}

/** React's type says that it returns a promise, but it returns the stream. */
const resume = resumeToPipeableStream as unknown as (
  ...args: Parameters<typeof resumeToPipeableStream>
) => PipeableStream;

/** The styles that the components of one render collect with `useServerStyles()`. */
class ServerStyles {
  readonly #collectors: (() => string)[] = [];

  add(collect: () => string): void {
    this.#collectors.push(collect);
  }

  /** Returns the HTML of the styles since the last call. @throws what a component's function throws */
  take(): string {
    return this.#collectors.map((collect) => requireText(collect())).join('');
  }
}

/** Neither the build nor `npm run dev` runs the compiler. */
function requireText(html: unknown): string {
  if (typeof html === 'string') return html;
  throw new TypeError(
    `The function of useServerStyles() returned ${html === undefined ? 'undefined' : `a value of type ${typeof html}`}. Return the HTML of the styles as a string, or '' if there are none.`,
  );
}

/** The reason to abort a render that another response replaces. */
class RenderReplaced extends Error {}

type Attempt =
  | { readonly kind: 'failed'; readonly error: PageError; readonly routeId: string }
  | Exclude<Rendered, { kind: 'last-resort' | 'page' }>
  | { readonly kind: 'page'; readonly render: Render };

/**
 * Renders until the shell is ready, or all of it for crawlers and static pages. If the shell fails, it is rendered
 * again with the error in place of the innermost route that had started, then one further out, because an error page
 * can fail too.
 */
export async function renderPage(options: RenderOptions, given: PagePayload): Promise<Rendered> {
  let payload = given;
  let error: PageError | undefined;
  let limit = payload.routes.length;
  for (;;) {
    const attempt = await new Render(options, payload).shell;
    if (attempt.kind === 'page') return { kind: 'page', render: attempt.render, payload, error };
    if (attempt.kind !== 'failed') return attempt;
    error = attempt.error;
    limit = Math.min(payload.routes.indexOf(attempt.routeId), limit - 1);
    if (limit < 0) return { kind: 'last-resort', error };
    payload = { ...payload, errors: { [payload.routes[limit] ?? FRAME_ROUTE]: error } };
  }
}

function toEngine({ runtime, pageRequest, nonce }: RenderOptions, payload: PagePayload, render: Render): Engine {
  const { host, hostRefusal } = pageRequest.host;
  const shownErrors = Object.values(payload.errors ?? {});
  const toDeferredError = toPageErrorOf(pageRequest);
  return {
    host,
    hostRefusal,
    errorPages: runtime.app.errorPages,
    document: runtime.app.document,
    modules: runtime.app.modules,
    styles: new Map(Object.entries(payload.styles)),
    nonce,
    onStyles: (collect) => render.styles.add(collect),
    // By identity, because a thrown object can look like a page error, and its message is not for visitors.
    toPageError: (thrown) =>
      shownErrors.find((known) => known === thrown) ?? render.onDeferredError(toDeferredError(thrown)),
    onRoute(id) {
      render.innermost = id;
    },
  };
}

function toAttempt(disposition: Disposition, routeId: string): Attempt {
  return disposition.kind === 'error' ? { kind: 'failed', error: disposition.error, routeId } : disposition;
}

function toDeferredAttempt(error: PageError, routeId: string): Attempt | undefined {
  const { kind, status, location } = error;
  if (kind === 'redirect' && location !== undefined) return { kind, status, location };
  return kind === 'failure' || kind === 'public' ? undefined : { kind: 'failed', error, routeId };
}

/**
 * One attempt at rendering a page. React holds its callbacks until the next turn of the event loop, when the pages of
 * many visitors can have been sent. So the callbacks hold only this object, which releases the page when it ends.
 */
export class Render {
  /** The result, when the shell is ready or has failed. */
  readonly shell: Promise<Attempt>;
  /** The route that started last. */
  innermost = FRAME_ROUTE;
  styles = new ServerStyles();
  #shellStyles = '';
  readonly #stream: PipeableStream;
  readonly #timer: NodeJS.Timeout | undefined;
  #options: RenderOptions | undefined;
  #resolve: ((attempt: Attempt) => void) | undefined;
  /** A result from before the shell was ready. */
  #early: Attempt | undefined;
  #sink: PageSink | undefined;

  constructor(options: RenderOptions, payload: PagePayload) {
    this.#options = options;
    this.shell = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { pageRequest } = options;
    const { endedBy } = pageRequest;
    this.#stream = this.#start(options, payload);
    const abort = (reason: Error): void => this.#stream.abort(reason);
    pageRequest.onAbort(abort);
    // After a timeout the error page still has to be rendered, and has the same time again.
    if (endedBy) this.#timer = setTimeout(abort, endedBy instanceof VisitorGone ? 0 : pageRequest.deadlineMs, endedBy);
  }

  #start(options: RenderOptions, payload: PagePayload): PipeableStream {
    const { runtime, pageRequest, isShell, postponed } = options;
    const nonce = options.nonce === undefined ? undefined : { script: options.nonce, style: options.nonce };
    const { isFull } = pageRequest;
    const engine = toEngine(options, payload, this);
    const page = (
      <PageTree
        tree={runtime.app.tree}
        manifest={runtime.server.manifest}
        pageRequest={pageRequest}
        payload={payload}
        engine={engine}
      />
    );
    const onError = this.#onError;
    if (isShell) return new Prerender(page, { onError, onReady: this.#onReady, onFailed: this.#onShellError });
    // React changes the state, so each visitor needs a new one.
    if (postponed !== undefined) return resume(page, JSON.parse(postponed) as PostponedState, { nonce, onError });
    return renderToPipeableStream(page, {
      nonce,
      progressiveChunkSize: isFull ? Number.POSITIVE_INFINITY : undefined,
      onError,
      onShellReady: isFull ? undefined : this.#onReady,
      onAllReady: isFull ? this.#onReady : undefined,
      onShellError: this.#onShellError,
    });
  }

  /** What React has prerendered, if it was asked to. */
  get prerendered(): Prerender['result'] {
    return this.#stream instanceof Prerender ? this.#stream.result : undefined;
  }

  /**
   * Pipes React's stream to a `PageSink`, which writes the page up to the last byte. The promise resolves when that was
   * handed over or the page was abandoned, and rejects with what the target threw.
   */
  send(target: PageTarget, texts: PageTexts): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#sink = new PageSink(target, texts, {
        styles: this.#shellStyles + this.#takeNewStyles(),
        takeStyles: this.#takeNewStyles,
        onEnd: () => {
          this.#end();
          resolve();
        },
        onFailed: (thrown) => {
          this.#end();
          queueMicrotask(() => this.replace()); // React is perhaps writing at the moment
          reject(thrown);
        },
      });
      // React's type asks for a Writable, but React only uses the methods that PageSink has.
      this.#stream.pipe(this.#sink as unknown as NodeJS.WritableStream);
    });
  }

  /** Ends the render, because another response replaces it. */
  replace(): void {
    this.#end();
    this.#stream.abort(new RenderReplaced());
  }

  /**
   * Before anything is sent, a deferred value that ends with a control-flow response replaces the page, as it does in
   * the shell. Failures and public errors only replace their own part of the page.
   */
  onDeferredError(error: PageError): PageError {
    this.#early ??= toDeferredAttempt(error, this.innermost);
    return error;
  }

  /** @returns what React puts into `data-dgst` */
  readonly #onError = (thrown: unknown, { componentStack }: ErrorInfo = {}): string | undefined => {
    if (!this.#options) return undefined;
    const { pageRequest } = this.#options;
    const disposition = pageRequest.fail(thrown, 'render', { componentStack: componentStack ?? undefined });
    this.#early ??= disposition.kind === 'error' ? undefined : disposition;
    if (disposition.kind === 'gone') return undefined;
    if (disposition.kind === 'redirect') {
      this.#sink?.inject(`<meta http-equiv="refresh" content="0;url=${escapeHtml(disposition.location)}">`);
      return 'redirect';
    }
    if (disposition.error.kind === 'failure') return disposition.error.digest;
    this.#early ??= { kind: 'failed', error: disposition.error, routeId: this.innermost };
    this.#sink?.inject('<meta name="robots" content="noindex">');
    return disposition.error.kind;
  };

  readonly #onShellError = (thrown: unknown): void => {
    if (!this.#options) return;
    const { pageRequest } = this.#options;
    this.#end();
    this.#resolve?.(this.#early ?? toAttempt(pageRequest.fail(thrown, 'render'), this.innermost));
  };

  readonly #onReady = (): void => {
    if (!this.#options) return;
    try {
      this.#shellStyles = this.styles.take();
    } catch (error) {
      this.#onShellError(error);
      this.#stream.abort(new RenderReplaced());
      return;
    }
    if (this.#early) this.replace();
    this.#resolve?.(this.#early ?? { kind: 'page', render: this });
  };

  /** After the shell, a failure only costs the styles. */
  readonly #takeNewStyles = (): string => {
    try {
      return this.styles.take();
    } catch (error) {
      this.#onError(error);
      return '';
    }
  };

  #end(): void {
    clearTimeout(this.#timer);
    this.#options?.pageRequest.onAbort(undefined);
    this.#options = undefined;
    this.styles = new ServerStyles();
    this.#sink = undefined;
  }
}
