import { useCallback, useEffect, useState } from 'react';
import styles from './stream-clock.module.css';
import { isDocumentOpen, useTimings } from './use-timings.ts';

/** Counts while the response is open, then shows what the browser measured. */
export function StreamClock({ path }: { path: string }) {
  const isThisPage = useCallback((requested: string) => requested.endsWith(path), [path]);
  const response = useTimings(isThisPage).at(-1);
  return (
    <div className={styles.clock}>
      <p>{response ? <Measured response={response} /> : <Running />}</p>
      {/* A plain anchor, because a Link would fetch only the data. */}
      <p>
        <a href={path}>Reload the page</a>
      </p>
    </div>
  );
}

function Measured({ response }: { response: PerformanceResourceTiming }) {
  const { requestStart, responseStart, responseEnd } = response;
  return (
    <>
      First byte after <strong>{Math.round(responseStart - requestStart)} ms</strong>, last byte after{' '}
      <strong>{Math.round(responseEnd - requestStart)} ms</strong>: one response, as your browser measured it.
    </>
  );
}

function Running() {
  const [ms, setMs] = useState<number>();
  useEffect(() => {
    const started = isDocumentOpen() ? 0 : performance.now(); // the times of a document start at zero
    const timer = setInterval(() => setMs(Math.round(performance.now() - started)), 33);
    return () => clearInterval(timer);
  }, []);
  if (ms === undefined) return null;
  return (
    <>
      The response has been open for <strong>{ms} ms</strong>.
    </>
  );
}
