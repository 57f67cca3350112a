const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How often a server that npm started checks that npm is still running (ms). */
const PARENT_INTERVAL = 500;

let told: ((signal: NodeJS.Signals) => void) | undefined;

/**
 * Passes on the signals that ask this process to stop. Only the last listener is called. Call it as early as possible:
 * as process 1 of a container, a process without a listener does not receive these signals at all.
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): void {
  if (!told) listenToSignals();
  told = listener;
}

/**
 * npm starts scripts in a shell, and a signal can end both without reaching this process, which would then hold its
 * port forever. So the end of the parent counts as a signal, unless one has arrived.
 */
function listenToSignals(): void {
  const parent = process.ppid;
  const lookForParent = (): void => {
    if (process.ppid !== parent) pass('SIGTERM');
  };
  const timer = process.env.npm_lifecycle_event ? setInterval(lookForParent, PARENT_INTERVAL).unref() : undefined;
  const pass = (signal: NodeJS.Signals): void => {
    clearInterval(timer);
    told?.(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, pass);
}
