export type PrefetchPriority = 'intent' | 'viewport' | 'render';
export type Priority = 'navigation' | PrefetchPriority;

const RANK: Readonly<Record<Priority, number>> = { navigation: 0, intent: 1, viewport: 2, render: 2 };

/** What a job is told while it runs. */
export interface JobView {
  readonly signal: AbortSignal;
  /** Whether a navigation wants it, as of the moment of asking: one may join later. */
  readonly isNavigation: boolean;
}

export interface Ticket<T> {
  /** Rejects with an `AbortError` when this ticket is cancelled, even where the job goes on for others. */
  readonly result: Promise<T>;
  /** Another one had the job started or queued before. */
  readonly joined: boolean;
  cancel(): void;
}

export interface QueueOptions<T> {
  /** Prefetches that may run at once (a count). */
  readonly concurrency: number;
  /** When the job behind a result is over, for results that come before their end. */
  readonly toEnd?: (value: T) => Promise<unknown>;
}

export interface Queue<T> {
  /** Starts or queues the job of a key, or joins the one that is there and raises it. */
  add(key: string, priority: Priority, start: (job: JobView) => Promise<T>, signal?: AbortSignal): Ticket<T>;
  /** Whether the key's job is queued or running. */
  has(key: string): boolean;
  /** Cancels the prefetches of one priority, or all. What a navigation has joined goes on. */
  dropAll(priority?: PrefetchPriority): void;
  /** Cancels all prefetches, and lets nobody join what navigations wait for: it goes on for them alone. */
  reset(): void;
  /** Counts. */
  stats(): { readonly waiting: number; readonly prefetches: number; readonly navigations: number };
}

interface Holder<T> {
  readonly priority: Priority;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to its signal. */
  release(): void;
}

interface Job<T> {
  readonly key: string;
  readonly start: (job: JobView) => Promise<T>;
  readonly controller: AbortController;
  /** One for each ticket that is not cancelled. */
  readonly holders: Set<Holder<T>>;
  isStarted: boolean;
  isOver: boolean;
  outcome?: { readonly value: T };
}

/**
 * One job at a time for a key, shared by all who ask for it: a hover's prefetch is the navigation's
 * response. Prefetches wait for one of a few places; a navigation waits for nothing and takes no
 * place. A job that nobody wants any more is dropped, and aborted where it runs.
 */
export function createQueue<T>({ concurrency, toEnd = () => Promise.resolve() }: QueueOptions<T>): Queue<T> {
  /** Those that can be joined, in the order in which they came. */
  const jobs = new Map<string, Job<T>>();

  function countPrefetches(): number {
    let count = 0;
    for (const job of jobs.values()) if (job.isStarted && !isNavigation(job)) count++;
    return count;
  }

  function nextWaiting(): Job<T> | undefined {
    let next: Job<T> | undefined;
    for (const job of jobs.values()) {
      if (!job.isStarted && (!next || rankOf(job) < rankOf(next))) next = job;
    }
    return next;
  }

  function startWaiting(): void {
    while (countPrefetches() < concurrency) {
      const next = nextWaiting();
      if (!next) return;
      void run(next);
    }
  }

  async function run(job: Job<T>): Promise<void> {
    job.isStarted = true;
    const view: JobView = {
      signal: job.controller.signal,
      get isNavigation() {
        return isNavigation(job);
      },
    };
    try {
      const value = await job.start(view);
      job.outcome = { value };
      for (const holder of job.holders) holder.resolve(value);
      await toEnd(value);
      remove(job, undefined);
    } catch (error) {
      remove(job, error);
    }
  }

  function remove(job: Job<T>, error: unknown): void {
    if (job.isOver) return;
    job.isOver = true;
    if (jobs.get(job.key) === job) jobs.delete(job.key);
    for (const holder of job.holders) {
      holder.release();
      holder.reject(error);
    }
    startWaiting();
  }

  function drop(job: Job<T>, reason: unknown): void {
    job.controller.abort(reason);
    remove(job, reason);
  }

  function leave(job: Job<T>, holder: Holder<T>, reason: unknown): void {
    if (job.isOver || !job.holders.delete(holder)) return;
    holder.release();
    holder.reject(reason);
    // Without its navigation a job is a prefetch again, and its place may be taken.
    if (job.holders.size === 0 || countPrefetches() > concurrency) drop(job, reason);
    else startWaiting();
  }

  /** An answer whose end is still to come serves one navigation: the next one asks for a newer. */
  function findJob(key: string, priority: Priority): Job<T> | undefined {
    const job = jobs.get(key);
    return job?.outcome && priority === 'navigation' && isNavigation(job) ? undefined : job;
  }

  function add(key: string, priority: Priority, start: Job<T>['start'], signal?: AbortSignal): Ticket<T> {
    if (signal?.aborted) return { result: rejected(signal.reason), joined: jobs.has(key), cancel() {} };
    const known = findJob(key, priority);
    const job: Job<T> = known ?? createJob(key, start);
    jobs.set(key, job);

    let cancel = () => {};
    const result = new Promise<T>((resolve, reject) => {
      const onAbort = () => leave(job, holder, signal?.reason);
      const holder: Holder<T> = {
        priority,
        resolve,
        reject,
        release: () => signal?.removeEventListener('abort', onAbort),
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      job.holders.add(holder);
      cancel = () => leave(job, holder, toAbortError());
    });
    result.catch(() => {}); // a prefetch that fails is nobody's error

    if (job.outcome) for (const holder of job.holders) holder.resolve(job.outcome.value);
    if (!job.isStarted && priority === 'navigation') void run(job);
    startWaiting();
    return { result, joined: known !== undefined, cancel };
  }

  function dropAll(priority?: PrefetchPriority): void {
    // Those that wait go first, so that none is started in the place of one that runs.
    const inOrder = [...jobs.values()].sort((a, b) => Number(a.isStarted) - Number(b.isStarted));
    for (const job of inOrder) {
      for (const holder of job.holders) {
        if (holder.priority === 'navigation' || (priority && holder.priority !== priority)) continue;
        leave(job, holder, toAbortError());
      }
    }
  }

  function reset(): void {
    dropAll();
    jobs.clear();
  }

  function stats() {
    const prefetches = countPrefetches();
    const started = [...jobs.values()].filter((job) => job.isStarted).length;
    return { waiting: jobs.size - started, prefetches, navigations: started - prefetches };
  }

  return { add, has: (key) => jobs.has(key), dropAll, reset, stats };
}

function createJob<T>(key: string, start: Job<T>['start']): Job<T> {
  return { key, start, controller: new AbortController(), holders: new Set(), isStarted: false, isOver: false };
}

function isNavigation<T>(job: Job<T>): boolean {
  return rankOf(job) === RANK.navigation;
}

function rankOf<T>(job: Job<T>): number {
  let rank = Number.POSITIVE_INFINITY;
  for (const holder of job.holders) rank = Math.min(rank, RANK[holder.priority]);
  return rank;
}

function toAbortError(): DOMException {
  return new DOMException('Nobody waits for this any more.', 'AbortError');
}

function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
