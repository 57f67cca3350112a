import { useEffect, useState } from 'react';

/** A navigation entry extends a resource entry. Node's types, which apply here too, do not know the name. */
const DOCUMENT = 'navigation' as 'resource';

/** Returns the browser's timings of requests for these paths, oldest first, and updates with new requests. */
export function useTimings(isWanted: (path: string) => boolean): PerformanceResourceTiming[] {
  const [timings, setTimings] = useState<PerformanceResourceTiming[]>([]);
  useEffect(() => {
    const observer = new PerformanceObserver((list) => {
      const entries = list.getEntries() as PerformanceResourceTiming[]; // of the two types below
      // The entry of a document that is still loading has no end. The browser reports it again when it has one.
      const wanted = entries.filter(({ name, responseEnd }) => responseEnd > 0 && isWanted(new URL(name).pathname));
      if (wanted.length > 0) setTimings((before) => [...before, ...wanted]);
    });
    for (const type of [DOCUMENT, 'resource'] as const) observer.observe({ type, buffered: true });
    return () => observer.disconnect();
  }, [isWanted]);
  return timings;
}

/** Returns true while the document is still loading. */
export function isDocumentOpen(): boolean {
  const [document] = performance.getEntriesByType(DOCUMENT) as PerformanceResourceTiming[];
  return document?.responseEnd === 0;
}
