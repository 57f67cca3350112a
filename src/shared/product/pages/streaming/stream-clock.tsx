import { useEffect, useState } from 'react';
import { isDocumentOpen, useTimings } from '../../ui/use-timings.ts';
import styles from './stream-clock.module.css';

/** Runs while the response is open, and says in the end what the browser has measured of it. */
export function StreamClock() {
  const response = useTimings(isThisPage).at(-1);
  return (
    <div className={styles.clock}>
      <p>{response ? <Measured response={response} /> : <Running />}</p>
      {/* An anchor of the document's own: a Link would ask for the data alone. */}
      <p>
        <a href="/tour/streaming">Load the page again</a>
      </p>
    </div>
  );
}

const isThisPage = (path: string) => path.endsWith('/tour/streaming');

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
    const started = isDocumentOpen() ? 0 : performance.now(); // a document's time begins at zero
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
