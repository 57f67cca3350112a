import { describe, expect, it, vi } from 'vitest';
import { createQueue, type JobView, type Queue } from '../../../../src/client/engine/page-data/queue.ts';

/** Jobs that the test ends by hand, by key. */
function createJobs(queue: Queue<string> = createQueue<string>({ concurrency: 5 })) {
  const started: string[] = [];
  const views = new Map<string, JobView>();
  const ends = new Map<string, { resolve(value: string): void; reject(error: unknown): void }>();
  const start = (key: string) => (view: JobView) => {
    started.push(key);
    views.set(key, view);
    return new Promise<string>((resolve, reject) => {
      ends.set(key, { resolve, reject });
      view.signal.addEventListener('abort', () => reject(view.signal.reason));
    });
  };
  return {
    queue,
    started,
    view: (key: string) => views.get(key),
    isAborted: (key: string) => views.get(key)?.signal.aborted,
    add: (key: string, priority: Parameters<typeof queue.add>[1], signal?: AbortSignal) =>
      queue.add(key, priority, start(key), signal),
    async end(key: string, value = `data of ${key}`) {
      ends.get(key)?.resolve(value);
      await flush();
    },
    async fail(key: string, error: unknown) {
      ends.get(key)?.reject(error);
      await flush();
    },
  };
}

const flush = () => new Promise((resolve) => setImmediate(resolve));
const keys = (count: number, name = 'p') => Array.from({ length: count }, (_, i) => `${name}${i}`);

describe('createQueue', () => {
  it('runs five prefetches at once, and the next when one ends', async () => {
    const jobs = createJobs();
    for (const key of keys(8)) jobs.add(key, 'viewport');
    expect(jobs.started).toEqual(keys(5));
    expect(jobs.queue.stats()).toEqual({ waiting: 3, prefetches: 5, navigations: 0 });
    await jobs.end('p3');
    await jobs.fail('p0', new Error('x'));
    expect(jobs.started).toEqual(keys(7));
  });

  it('takes intent before viewport and render, and each in its order', async () => {
    const jobs = createJobs(createQueue({ concurrency: 1 }));
    jobs.add('first', 'render');
    jobs.add('r', 'render');
    jobs.add('v', 'viewport');
    jobs.add('i1', 'intent');
    jobs.add('i2', 'intent');
    for (const key of ['first', 'i1', 'i2', 'r']) await jobs.end(key);
    expect(jobs.started).toEqual(['first', 'i1', 'i2', 'r', 'v']);
  });

  it('starts a navigation at once, and does not count it', async () => {
    const jobs = createJobs();
    for (const key of keys(5)) jobs.add(key, 'viewport');
    const { result, joined } = jobs.add('nav', 'navigation');
    expect(joined).toBe(false);
    expect(jobs.started).toContain('nav');
    await jobs.end('p0');
    jobs.add('more', 'viewport');
    expect(jobs.queue.stats()).toEqual({ waiting: 0, prefetches: 5, navigations: 1 });
    await jobs.end('nav');
    expect(await result).toBe('data of nav');
  });

  it('gives a navigation the response of the prefetch that runs, and frees its place', async () => {
    const jobs = createJobs();
    for (const key of keys(6)) jobs.add(key, 'intent');
    const view = jobs.view('p0');
    expect(view?.isNavigation).toBe(false);
    const { result, joined } = jobs.add('p0', 'navigation');
    expect(joined).toBe(true);
    expect(view?.isNavigation).toBe(true);
    expect(jobs.started).toEqual(keys(6));
    await jobs.end('p0');
    expect(await result).toBe('data of p0');
  });

  it('starts a waiting prefetch at once when a navigation joins it', () => {
    const jobs = createJobs();
    for (const key of keys(7)) jobs.add(key, 'viewport');
    jobs.add('p6', 'navigation');
    expect(jobs.started).toEqual([...keys(5), 'p6']);
  });

  it('raises a waiting prefetch that is wanted more', async () => {
    const jobs = createJobs(createQueue({ concurrency: 1 }));
    for (const key of keys(3)) jobs.add(key, 'viewport');
    jobs.add('p2', 'intent');
    await jobs.end('p0');
    expect(jobs.started).toEqual(['p0', 'p2']);
  });

  it('drops a waiting prefetch and aborts a running one', async () => {
    const jobs = createJobs(createQueue({ concurrency: 1 }));
    const aborter = new AbortController();
    const running = jobs.add('running', 'intent', aborter.signal);
    const waiting = jobs.add('waiting', 'intent');
    jobs.add('next', 'viewport');
    waiting.cancel();
    aborter.abort();
    await expect(waiting.result).rejects.toMatchObject({ name: 'AbortError' });
    await expect(running.result).rejects.toMatchObject({ name: 'AbortError' });
    expect(jobs.isAborted('running')).toBe(true);
    expect(jobs.started).toEqual(['running', 'next']);
    expect(jobs.queue.has('waiting')).toBe(false);
  });

  it('keeps what a navigation has joined when its prefetch is cancelled', async () => {
    const jobs = createJobs();
    const hover = jobs.add('p', 'intent');
    const navigation = jobs.add('p', 'navigation');
    hover.cancel();
    jobs.queue.dropAll();
    expect(jobs.isAborted('p')).toBe(false);
    await jobs.end('p');
    expect(await navigation.result).toBe('data of p');
  });

  it('makes a job a prefetch again when its navigation is cancelled, where there is a place', async () => {
    const jobs = createJobs(createQueue({ concurrency: 1 }));
    jobs.add('p', 'intent');
    const first = jobs.add('p', 'navigation');
    first.cancel();
    expect(jobs.isAborted('p')).toBe(false);
    const second = jobs.add('p', 'navigation');
    jobs.add('other', 'viewport');
    second.cancel();
    expect(jobs.isAborted('p')).toBe(true);
    expect(jobs.queue.stats().prefetches).toBe(1);
  });

  it('aborts a navigation that nobody waits for', async () => {
    const jobs = createJobs();
    const aborter = new AbortController();
    const { result } = jobs.add('nav', 'navigation', aborter.signal);
    aborter.abort(new Error('superseded'));
    await expect(result).rejects.toThrow('superseded');
    expect(jobs.isAborted('nav')).toBe(true);
  });

  it('starts nothing for a signal that is aborted already', async () => {
    const jobs = createJobs();
    const { result } = jobs.add('p', 'navigation', AbortSignal.abort(new Error('gone')));
    await expect(result).rejects.toThrow('gone');
    expect(jobs.started).toEqual([]);
  });

  it('drops by priority, and starts none of those that it drops', async () => {
    const jobs = createJobs(createQueue({ concurrency: 2 }));
    jobs.add('v0', 'viewport');
    jobs.add('i0', 'intent');
    jobs.add('v1', 'viewport');
    jobs.add('i1', 'intent');
    jobs.add('v2', 'viewport');
    jobs.queue.dropAll('viewport');
    expect(jobs.started).toEqual(['v0', 'i0', 'i1']);
    expect([jobs.isAborted('v0'), jobs.isAborted('i0')]).toEqual([true, false]);
    jobs.queue.dropAll();
    expect(jobs.queue.stats()).toEqual({ waiting: 0, prefetches: 0, navigations: 0 });
  });

  it('keeps a prefetch that is wanted for another reason', () => {
    const jobs = createJobs();
    jobs.add('p', 'viewport');
    const hover = jobs.add('p', 'intent');
    hover.cancel();
    expect(jobs.isAborted('p')).toBe(false);
    jobs.queue.dropAll('viewport');
    expect(jobs.isAborted('p')).toBe(true);
  });

  it('passes a failure to all who wait, and starts anew for the next', async () => {
    const jobs = createJobs();
    const hover = jobs.add('p', 'intent');
    const navigation = jobs.add('p', 'navigation');
    await jobs.fail('p', new Error('refused'));
    await expect(hover.result).rejects.toThrow('refused');
    await expect(navigation.result).rejects.toThrow('refused');
    jobs.add('p', 'navigation');
    expect(jobs.started).toEqual(['p', 'p']);
  });

  it('keeps the place until the end of a result, which a navigation may join, once', async () => {
    let finish = () => {};
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const jobs = createJobs(createQueue({ concurrency: 1, toEnd: () => ended }));
    const hover = jobs.add('p', 'intent');
    jobs.add('next', 'intent');
    await jobs.end('p');
    expect(await hover.result).toBe('data of p');
    expect(jobs.started).toEqual(['p']);
    const navigation = jobs.add('p', 'navigation');
    expect(await navigation.result).toBe('data of p');
    expect(jobs.started).toEqual(['p', 'next']);
    jobs.add('p', 'navigation');
    expect(jobs.started).toEqual(['p', 'next', 'p']);
    finish();
    await flush();
    expect(jobs.queue.has('p')).toBe(true);
  });

  it('lets nobody join after a reset, and ends only the prefetches', async () => {
    const jobs = createJobs();
    const aborter = new AbortController();
    const navigation = jobs.add('nav', 'navigation', aborter.signal);
    jobs.add('p', 'intent');
    jobs.queue.reset();
    expect([jobs.isAborted('nav'), jobs.isAborted('p')]).toEqual([false, true]);
    const old = jobs.view('nav');
    jobs.add('nav', 'navigation');
    expect(jobs.started).toEqual(['nav', 'p', 'nav']);
    aborter.abort(new Error('superseded'));
    await expect(navigation.result).rejects.toThrow('superseded');
    expect(old?.signal.aborted).toBe(true);
    expect(jobs.queue.has('nav')).toBe(true);
  });

  it('raises no unhandled rejection for a prefetch', async () => {
    const onUnhandled = vi.fn();
    process.on('unhandledRejection', onUnhandled);
    const jobs = createJobs();
    jobs.add('p', 'intent');
    await jobs.fail('p', new Error('refused'));
    jobs.add('p', 'intent', AbortSignal.abort());
    await flush();
    process.off('unhandledRejection', onUnhandled);
    expect(onUnhandled).not.toHaveBeenCalled();
  });
});
