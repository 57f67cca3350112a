import { DYNAMIC_PREFETCH_TIME, STATIC_STALE_TIME } from '../../../shared/engine/limits.ts';

/** Pages kept for Back, and responses kept for a navigation (a count each); the longest unused goes first. */
const MAX_ENTRIES = 50;

export interface CacheOptions {
  /** A clock that never runs backwards (ms), such as `performance.now`. */
  readonly now: () => number;
}

/**
 * @typeParam Answer what was fetched and may serve a navigation
 * @typeParam Page what was shown and may be shown again by Back
 */
export interface PageCache<Answer, Page> {
  /** Keeps an answer: a static page's for 300 s, any other's for one navigation within 30 s. */
  put(url: string, answer: Answer, isStatic: boolean): void;
  /** Whether `take` would find something. */
  has(url: string): boolean;
  /** What may be used without asking the server; a dynamic page's answer is handed out once. */
  take(url: string): Answer | undefined;
  /** Forgets the answer of a URL; with `answer` only where it is that one. */
  drop(url: string, answer?: Answer): void;
  remember(url: string, page: Page): void;
  recall(url: string): Page | undefined;
  /** How long ago the page was remembered (ms); infinite for an unknown one. */
  ageOf(url: string): number;
  /** Forgets everything: an action may have changed any of it. */
  dropAll(): void;
  /** Counts. */
  stats(): { readonly answers: number; readonly pages: number };
}

export function createPageCache<Answer, Page>({ now }: CacheOptions): PageCache<Answer, Page> {
  const answers = new Map<string, { readonly answer: Answer; readonly isStatic: boolean; readonly at: number }>();
  const pages = new Map<string, { readonly page: Page; readonly at: number }>();

  function fresh(url: string) {
    const entry = answers.get(url);
    if (!entry) return undefined;
    if (now() - entry.at < (entry.isStatic ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME)) return entry;
    answers.delete(url);
    return undefined;
  }

  return {
    put: (url, answer, isStatic) => setNewest(answers, url, { answer, isStatic, at: now() }),
    has: (url) => fresh(url) !== undefined,
    take(url) {
      const entry = fresh(url);
      if (entry?.isStatic) setNewest(answers, url, entry);
      else answers.delete(url);
      return entry?.answer;
    },
    drop(url, answer) {
      if (answer === undefined || answers.get(url)?.answer === answer) answers.delete(url);
    },
    remember: (url, page) => setNewest(pages, url, { page, at: now() }),
    recall(url) {
      const entry = pages.get(url);
      if (entry) setNewest(pages, url, entry);
      return entry?.page;
    },
    ageOf(url) {
      const entry = pages.get(url);
      return entry ? now() - entry.at : Number.POSITIVE_INFINITY;
    },
    dropAll() {
      answers.clear();
      pages.clear();
    },
    stats: () => ({ answers: answers.size, pages: pages.size }),
  };
}

/** A `Map` keeps the order of insertion: the first key is the longest unused. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_ENTRIES) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
