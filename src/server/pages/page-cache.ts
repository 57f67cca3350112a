import { STATIC_STALE_TIME } from '../../shared/shared-limits.ts';
import { Second } from '../../shared/units.ts';
import type { Path } from '../../shared/wire/format.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import type { Coding } from '../request/request-headers.ts';
import type { Loaded } from './load-page.ts';
import type { PersonalValue } from './personal.ts';

/** What a cache has to know about a page. */
export interface CachedPage {
  /** Its size in memory, approximately (bytes). */
  readonly bytes: number;
  /** Set if something failed: the page is sent to the visitors who wait for it, and is not cached. */
  readonly failed?: {
    /** There is no such page any more, or not for everyone, so an older one must not be sent either. */
    readonly isGone: boolean;
  };
}

interface CachedBytes {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface CodedBytes extends CachedBytes {
  readonly coding: Coding;
}

/** A body with everything for its responses. */
export interface CachedBody extends CachedBytes {
  readonly type: string;
  /** Compressed copies. Absent if nothing is compressed. */
  readonly coded?: readonly CodedBytes[];
}

/** A static page in memory, with everything for its responses. */
export interface CachedStaticPage extends CachedPage {
  /** The pattern of its route, for logs. */
  readonly route: string;
  /** Its copies have a strong tag each, of their bytes (RFC 9110, section 8.8.3.3). */
  readonly document: CachedBody;
  /** The page's data in the wire format. */
  readonly data: CachedBody;
  readonly failed?: NonNullable<CachedPage['failed']> & {
    readonly status: number;
    readonly digest: string | undefined;
  };
}

/** The place of a personal value in the data of a page. */
export interface Hole {
  /** The name that browser and server give it. */
  readonly id: string;
  readonly path: Path;
  /** The same one can be in several places. */
  readonly value: PersonalValue;
}

/** A page with `mode: 'shell'` in memory, with what each visitor's response needs. */
export interface CachedShell extends CachedPage {
  /** The data for everyone, with holes, or what the page answers everyone instead, such as a redirect. */
  readonly loaded: Loaded;
  readonly holes: readonly Hole[];
  /** Visitors must not see anything of it before their guards have passed. */
  readonly hasGuards: boolean;
  /** Absent if the page failed. */
  readonly page?: ShellPage;
}

export interface ShellMarks {
  readonly nonce: string;
  readonly trace: string;
}

export interface ShellPage {
  readonly payload: PagePayload;
  /** The data for everyone in the wire format, and its tag. */
  readonly data: string;
  readonly etag: string;
  /**
   * The document without its end. Only texts contain marks. Absent if the page waits for a hole outside of every
   * `<Await>`: then it is rendered for each request.
   */
  readonly parts?: readonly (string | Buffer)[];
  /** Random texts in place of what each request has its own of. */
  readonly marks: ShellMarks;
  /** React's state (JSON). Undefined if no hole is rendered. */
  readonly postponed: string | undefined;
}

export type PageCache<Page extends CachedPage> = ReturnType<typeof createPageCache<Page>>;

/** Whether a page's status says that there is no such page. A failure passes. */
export function isGone(status: number): boolean {
  return status >= 400 && status < 500;
}

/** Copies bytes for a cache: a buffer from zlib or from Node's pool is part of a larger one, and keeps all of it in memory. */
export function toOwnBytes(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

interface PageCacheOptions {
  /** All pages in memory (bytes). The least recently used page goes first. */
  readonly maxBytes: number;
  readonly onRefreshFailed: (error: unknown) => void;
}

interface Entry<Page> {
  readonly page: Page;
  /** When it was rendered. Later while it is rendered again, and `DROPPED` if it must be before it is sent. */
  renderedAt: number;
  /** When it became the last of the map. */
  movedAt: number;
}

/**
 * How exact the order of use is (ms). Deleting a key of a map and setting it again takes memory of the old generation.
 * Done for each answer, it caused a full garbage collection every other second.
 */
const MOVED_AGAIN_AFTER = 1 * Second;

/** Without a pause, each request would start a render after one that failed (ms). */
const REFRESHED_AGAIN_AFTER = 10 * Second;

/** Variants of one path (count): visitors can make up values of a search key, which would evict all other pages. */
const MAX_VARIANTS = 250;

const DROPPED = Number.NEGATIVE_INFINITY;

/**
 * Keeps pages in memory. A key is the page's path, with what selects the variant behind it. Each key has one render at a
 * time. A page that is older than `STATIC_STALE_TIME` is still sent, and is rendered again in the background. Visitors
 * wait for the new render of a dropped page. If a render fails, the old page stays. If the answer is now a redirect or a
 * 404, it goes.
 */
export function createPageCache<Page extends CachedPage>({ maxBytes, onRefreshFailed }: PageCacheOptions) {
  const entries = createEntries<Page>(maxBytes);
  const rendering = new Map<string, Promise<Page | undefined>>();

  /** @param old is sent and stays for a while if the render fails */
  function renderOnce<Result extends Page | undefined>(
    key: string,
    render: () => Promise<Result>,
    old?: Entry<Page>,
  ): Promise<Page | Result> {
    const running = rendering.get(key);
    if (running) return running as Promise<Page | Result>; // each key has one way to render it
    // Without its place, the page was dropped while it was rendered.
    const isCurrent = () => rendering.get(key) === started;
    const started: Promise<Page | Result> = renderOr(old, render)
      .then((page) => {
        if (!isCurrent()) return page;
        if (old && page === old.page) old.renderedAt = toRetried();
        else if (page && !page.failed) entries.add(key, page);
        else if (!page || page.failed?.isGone) entries.remove(key);
        return page;
      })
      .finally(() => isCurrent() && rendering.delete(key));
    rendering.set(key, started);
    return started;
  }

  async function renderOr<Result extends Page | undefined>(
    old: Entry<Page> | undefined,
    render: () => Promise<Result>,
  ): Promise<Page | Result> {
    if (!old) return render();
    try {
      const page = await render();
      return page?.failed && !page.failed.isGone ? old.page : page;
    } catch (error) {
      onRefreshFailed(error);
      return old.page;
    }
  }

  const toRetried = () => performance.now() - STATIC_STALE_TIME + REFRESHED_AGAIN_AFTER;
  const isStale = ({ renderedAt }: Entry<Page>) => performance.now() - renderedAt > STATIC_STALE_TIME;

  return {
    /**
     * @param render renders the page; undefined if it is not a page, such as a redirect
     * @returns the page in memory, unless it was dropped, or else the result of `render`
     */
    async get<Result extends Page | undefined>(key: string, render: () => Promise<Result>): Promise<Page | Result> {
      const entry = entries.use(key);
      if (!entry || entry.renderedAt === DROPPED) return renderOnce(key, render, entry);
      if (isStale(entry)) {
        entry.renderedAt = toRetried();
        void renderOnce(key, render, entry);
      }
      return entry.page;
    },
    /** Returns the page in memory, unless it has to be rendered again. */
    getFresh(key: string): Page | undefined {
      const entry = entries.use(key);
      return entry && !isStale(entry) ? entry.page : undefined;
    },
    /** Whether a page is in memory, however old. */
    has: entries.has,
    /** Renders a page again in all its variants before it is sent, even if it is being rendered. */
    drop(path: string): void {
      const isOf = (key: string): boolean => key === path || key.startsWith(`${path}?`) || key.startsWith(`${path} `);
      for (const [key, entry] of entries.list()) if (isOf(key)) entry.renderedAt = DROPPED;
      for (const key of [...rendering.keys()].filter(isOf)) rendering.delete(key);
    },
  };
}

/** The pages by key, up to a number of bytes. The least recently used one is first, and goes first. */
function createEntries<Page extends CachedPage>(maxBytes: number) {
  const entries = new Map<string, Entry<Page>>();
  let bytes = 0;
  /** With its key: a visitor can send one of 16 KiB for each variant of a small page. */
  const toSize = (key: string, page: Page): number => key.length + page.bytes;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    bytes -= toSize(key, entry.page);
  }

  return {
    remove,
    add(key: string, page: Page): void {
      remove(key);
      const size = toSize(key, page);
      if (size > maxBytes) return;
      const renderedAt = performance.now();
      entries.set(key, { page, renderedAt, movedAt: renderedAt });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        remove(oldest);
      }
      const path = key.slice(0, key.indexOf('?') + 1);
      const variants = path === '' ? [] : [...entries.keys()].filter((other) => other.startsWith(path));
      if (variants.length > MAX_VARIANTS) remove(variants[0] ?? '');
    },
    use(key: string): Entry<Page> | undefined {
      const entry = entries.get(key);
      if (entry && performance.now() - entry.movedAt > MOVED_AGAIN_AFTER) {
        entry.movedAt = performance.now();
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry;
    },
    has: (key: string): boolean => entries.has(key),
    list: () => entries.entries(),
  };
}
