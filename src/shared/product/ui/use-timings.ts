import { useEffect, useState } from 'react';

/** A navigation's timing is a resource's, and more. Node's types, which hold here too, do not know of it. */
const DOCUMENT = 'navigation' as 'resource';

/** What the browser has measured of the requests for these paths, oldest first; more come as they happen. */
export function useTimings(isWanted: (path: string) => boolean): PerformanceResourceTiming[] {
  const [timings, setTimings] = useState<PerformanceResourceTiming[]>([]);
  useEffect(() => {
    const observer = new PerformanceObserver((list) => {
      const entries = list.getEntries() as PerformanceResourceTiming[]; // of the two types below
      // A document that still streams in has a timing without an end; it comes again with one.
      const wanted = entries.filter(({ name, responseEnd }) => responseEnd > 0 && isWanted(new URL(name).pathname));
      if (wanted.length > 0) setTimings((before) => [...before, ...wanted]);
    });
    for (const type of [DOCUMENT, 'resource'] as const) observer.observe({ type, buffered: true });
    return () => observer.disconnect();
  }, [isWanted]);
  return timings;
}

/** A document's timing has no end while it streams in. */
export function isDocumentOpen(): boolean {
  const [document] = performance.getEntriesByType(DOCUMENT) as PerformanceResourceTiming[];
  return document?.responseEnd === 0;
}
