import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { Second } from '../../../shared/units.ts';
import { toIsoTime } from '../../../shared/words.ts';
import { toAgo, toExactTime } from '../words.ts';

/** The time since the data arrived (ms). It is 0 on the server and in the first render. */
const Passed = createContext(0);

/** How often relative times are updated (ms). */
const TICK = 10 * Second;

/**
 * Updates the relative times inside while a page is open. Unchanged data is not loaded again, so it would say "just now"
 * for hours. The first render matches the server's. The browser's clock, which can be wrong, is not used.
 *
 * @param since the `now` of the data
 */
export function PassingTime({ since, children }: { readonly since: number; readonly children: ReactNode }) {
  const [passed, setPassed] = useState({ since, ms: 0 });
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(() => setPassed({ since, ms: performance.now() - start }), TICK);
    return () => clearInterval(timer);
  }, [since]);
  return <Passed value={passed.since === since ? passed.ms : 0}>{children}</Passed>;
}

/** How long ago something was, with the exact time on hover. */
export function Ago({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <time dateTime={toIsoTime(at)} title={toExactTime(at)}>
      {toAgo(at, now + useContext(Passed))}
    </time>
  );
}
