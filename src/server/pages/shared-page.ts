import { AsyncLocalStorage } from 'node:async_hooks';
import type { RenderMode } from '../../shared/routing/routes.ts';
import type { Disposition, FailureContext } from '../errors/funnel.ts';
import { VisitorGone } from '../request/http-error.ts';
import { runForRequest } from '../request/request-info.ts';
import type { PageMatch } from './match-page.ts';
import { type FailedAt, PageRequest, PageTimeout } from './page-request.ts';
import type { PageRuntime } from './page-runtime.ts';
import type { PageTarget } from './render/page-sink.ts';
import type { LoaderArgs } from './server-page.ts';
import type { VisitorPageRequest } from './visitor-page.ts';

/** A page request whose answer is for everyone: it outlives the visitor who caused it, and knows nothing about them. */
export class SharedPageRequest extends PageRequest {
  /** The same as for a cached static page, so that both end in the same way. */
  readonly isFull = true;
  readonly #runtime: PageRuntime;
  readonly #visitor: VisitorPageRequest;
  #args: LoaderArgs | undefined;
  #failed = false;

  constructor(runtime: PageRuntime, visitor: VisitorPageRequest, method = 'GET') {
    const { match, info, path, search, deadlineMs } = visitor;
    super({ match, info, method, path, search: toSharedSearch(match, search), deadlineMs });
    this.#runtime = runtime;
    this.#visitor = visitor;
  }

  /** A page that is cached for everyone must not contain the host that its first visitor sent. */
  get host(): PageRequest['host'] {
    const { configured, fallback } = this.#runtime.server.origins;
    const { host } = new URL(fallback);
    const isOnly = new Set(configured.map((origin) => new URL(origin).host)).size === 1;
    return isOnly ? { host } : { host, hostRefusal: refuseHost(this.match.mode) };
  }

  /** Something failed, even if it did not fail the page, such as a deferred value or content behind a boundary. */
  get hasFailed(): boolean {
    return this.#failed || this.endedBy !== undefined;
  }

  leave(): void {
    this.#visitor.leave();
  }

  async toArgs(): Promise<LoaderArgs> {
    this.#args ??= this.#runtime.app.args.forEveryone(this);
    return this.#args;
  }

  fail(error: unknown, origin: FailureContext['origin'], at?: FailedAt): Disposition {
    this.#failed = true;
    const context = { ...this.#visitor.describe(origin, at), endedBy: this.endedBy, isShared: true };
    return this.#runtime.server.funnel.fail(error, context);
  }
}

/** The host would differ from the browser's when the page hydrates. */
function refuseHost(mode: RenderMode): string {
  const what = mode === 'shell' ? 'The shell of a page' : 'A static page';
  return `${what} read useHost(). It is rendered once for everyone, and visitors can use different hosts. Set PUBLIC_ORIGINS to the one origin that they use, make the route dynamic, or read the host in the browser.`;
}

/** Returns the search keys of a cached page in a fixed order, without all others. */
export function toSharedSearch(match: PageMatch, search: string): string {
  if (match.searchKeys.length === 0 || search === '') return '';
  const asked = new URLSearchParams(search);
  const shared = new URLSearchParams();
  for (const key of [...match.searchKeys].sort()) {
    for (const value of asked.getAll(key)) shared.append(key, value);
  }
  const text = shared.toString();
  return text && `?${text}`;
}

/** What the product keeps of a visitor in an `AsyncLocalStorage`, such as a session, must not reach the others. */
const asNobody = AsyncLocalStorage.snapshot();

/**
 * Runs a render for all visitors who wait for it. It does not end when they leave. So its deadline begins here, and it
 * counts as a page in progress itself, even if everyone has left.
 */
export async function renderForEveryone<Page>(
  { server }: Pick<PageRuntime, 'server'>,
  pageRequest: SharedPageRequest,
  render: () => Promise<Page>,
): Promise<Page> {
  const { deadlineMs } = pageRequest;
  const leave = server.limiter?.enter();
  const timer = setTimeout(() => pageRequest.abort(new PageTimeout(deadlineMs)), deadlineMs);
  const { promise: page, resolve } = Promise.withResolvers<Page>();
  asNobody(runForRequest, pageRequest.info, () => resolve(render()));
  try {
    return await page;
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}

/** Among these is React's script that keeps a form whose action is a function until the page is hydrated. */
const SUBMIT_SCRIPT = /<script[^<>]*>addEventListener\("submit",[^<]*<\/script>/g;
const REPLAYED = '"javascript:throw ';

/** Receives a page that is cached. */
export class MemoryTarget implements PageTarget {
  readonly #parts: Buffer[] = [];
  readonly destroyed = false;

  /** The page without the script that its policy would not let run. */
  get bytes(): Buffer {
    const bytes = Buffer.concat(this.#parts);
    const html = bytes.toString();
    if (!html.includes(REPLAYED)) return bytes;
    return Buffer.from(html.replace(SUBMIT_SCRIPT, (script) => (script.includes(REPLAYED) ? '' : script)));
  }

  write(bytes: Buffer): boolean {
    this.#parts.push(bytes);
    return true;
  }

  end(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  on(): this {
    return this;
  }

  destroy(error?: Error): void {
    throw error ?? new VisitorGone();
  }
}
