import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { Second } from '../../units.ts';

const Passed = createContext(0);

/** How often relative times are told anew (ms). */
const TICK = 10 * Second;

/**
 * Lets the relative times in it go on while a page is open: data that did not change is not asked for
 * again, and would say "just now" for hours. It begins as the server rendered it, and needs no clock
 * of the browser, which may be wrong.
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

/** Since the data came (ms); 0 at first, and on the server. */
export function usePassedTime(): number {
  return useContext(Passed);
}
