import { STATIC_STALE_TIME } from '../../../../shared/engine/limits.ts';

export interface CodedPage {
  /** As `Content-Encoding` and `Accept-Encoding` name it. */
  readonly coding: 'br' | 'gzip';
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A static page in memory, with everything for its responses. */
export interface KeptPage {
  /** The pattern of its route, for logs. */
  readonly route: string;
  readonly html: Buffer;
  /** A strong tag of these bytes. */
  readonly etag: string;
  /** Compressed copies, best first, each with a tag of its bytes (RFC 9110, section 8.8.3.3). */
  readonly coded?: readonly CodedPage[];
  /** The page's data in the wire format, and its tag. */
  readonly data: string;
  readonly dataEtag: string;
  /** Something failed. The page is sent to the visitors who wait for it, and is not cached. */
  readonly failed?: { readonly status: number; readonly digest: string | undefined };
}

export interface StaticCache {
  /**
   * @param render renders the page; undefined if it is not a page, such as a redirect
   * @returns the page in memory, however old, or else the result of `render`
   */
  get(key: string, render: () => Promise<KeptPage | undefined>): Promise<KeptPage | undefined>;
  /** Returns the page in memory, unless it has to be rendered again. */
  getFresh(key: string): KeptPage | undefined;
  clear(): void;
}

export interface StaticCacheOptions {
  /** HTML and data in memory (bytes). The least recently used page goes first. */
  readonly maxBytes: number;
  readonly onRefreshFailed: (error: unknown) => void;
  readonly now?: () => number;
}

interface Entry {
  page: KeptPage;
  renderedAt: number;
}

/**
 * Keeps static pages in memory. Each key has one render at a time. A page that is older than `STATIC_STALE_TIME` is
 * still sent, and is rendered again in the background.
 */
export function createStaticCache({
  maxBytes,
  onRefreshFailed,
  now = () => performance.now(),
}: StaticCacheOptions): StaticCache {
  const entries = new Map<string, Entry>();
  const rendering = new Map<string, Promise<KeptPage | undefined>>();
  let bytes = 0;

  function drop(key: string): void {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    bytes -= sizeOf(entry.page);
  }

  function keep(key: string, page: KeptPage): void {
    drop(key);
    if (sizeOf(page) > maxBytes) return;
    entries.set(key, { page, renderedAt: now() });
    bytes += sizeOf(page);
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break;
      drop(oldest);
    }
  }

  function renderOnce(key: string, render: () => Promise<KeptPage | undefined>): Promise<KeptPage | undefined> {
    const running = rendering.get(key);
    if (running) return running;
    const started = render()
      .then((page) => {
        if (page && !page.failed) keep(key, page);
        return page;
      })
      .finally(() => rendering.delete(key));
    rendering.set(key, started);
    return started;
  }

  function use(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    entries.set(key, entry); // the most recently used one is last
    return entry;
  }

  const isStale = ({ renderedAt }: Entry) => now() - renderedAt > STATIC_STALE_TIME;

  return {
    async get(key, render) {
      const entry = use(key);
      if (!entry) return renderOnce(key, render);
      if (isStale(entry)) renderOnce(key, render).catch(onRefreshFailed);
      return entry.page;
    },
    getFresh(key) {
      const entry = use(key);
      return entry && !isStale(entry) ? entry.page : undefined;
    },
    clear() {
      entries.clear();
      bytes = 0;
    },
  };
}

function sizeOf(page: KeptPage): number {
  const coded = page.coded?.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
  return page.html.length + coded + page.data.length;
}
