import { AsyncLocalStorage } from 'node:async_hooks';
import type { Funnel } from '../errors/funnel.ts';
import { VisitorGone } from '../request/http-error.ts';
import { runForRequest } from '../request/request-info.ts';
import type { PageMatch } from './match-page.ts';
import { type PageRequest, PageTimeout } from './page-request.ts';
import type { PageServices } from './page-response.ts';
import type { PageTarget } from './render/page-sink.ts';

/** Returns the search keys of a cached page in a fixed order, without all others. */
export function toSharedSearch(match: PageMatch, search: string): string {
  if (match.searchKeys.length === 0 || search === '') return '';
  const asked = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const key of [...match.searchKeys].sort()) {
    for (const value of asked.getAll(key)) kept.append(key, value);
  }
  const text = kept.toString();
  return text && `?${text}`;
}

/** What the product keeps of a visitor in an `AsyncLocalStorage`, such as a session, must not reach the others. */
const asNobody = AsyncLocalStorage.snapshot();

/**
 * Runs a render for all visitors who wait for it. It does not end when they leave. So its deadline begins here, and it
 * counts as a page in progress itself, even if everyone has left.
 *
 * @param render gets services that notice failures: a deferred value, or content behind a boundary, can fail without
 *   failing the page
 */
export async function renderForEveryone<Page>(
  services: PageServices,
  pageRequest: PageRequest,
  render: (watched: PageServices, hasFailed: () => boolean) => Promise<Page>,
): Promise<Page> {
  const { deadlineMs } = pageRequest;
  const watch = watchFunnel(services.funnel);
  const leave = services.limiter?.enter();
  const timer = setTimeout(() => pageRequest.abort(new PageTimeout(deadlineMs)), deadlineMs);
  const watched = { ...services, funnel: watch.funnel };
  const { promise: page, resolve } = Promise.withResolvers<Page>();
  asNobody(runForRequest, pageRequest.info, () =>
    resolve(render(watched, () => watch.hasFailed() || pageRequest.endedBy !== undefined)),
  );
  try {
    return await page;
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}

function watchFunnel(funnel: Funnel): { readonly funnel: Funnel; hasFailed(): boolean } {
  let failed = false;
  return {
    funnel: {
      ...funnel,
      fail(error, context) {
        failed = true;
        return funnel.fail(error, context);
      },
    },
    hasFailed: () => failed,
  };
}

/** Receives a page that is kept in memory. */
export class MemoryTarget implements PageTarget {
  readonly #parts: Buffer[] = [];
  readonly destroyed = false;

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
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
