const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How often a server that npm started looks whether npm is still there (ms). */
const PARENT_INTERVAL = 500;

let told: ((signal: NodeJS.Signals) => void) | undefined;

/**
 * Hands over the signals that ask this process to stop; of several listeners the last one is told. The
 * system ignores them where process 1 of a container does not listen, so that somebody must from the
 * beginning on.
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): void {
  if (!told) listenToSignals();
  told = listener;
}

/**
 * npm starts scripts in a shell, and a signal may end both without a word to this process, which would
 * hold its port for ever. So their end counts as a signal, unless one has come.
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
