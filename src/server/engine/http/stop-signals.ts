const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let told: ((signal: NodeJS.Signals) => void) | undefined;

/**
 * Hands over the signals that ask this process to stop; of several listeners the last one is told. The
 * system ignores them where process 1 of a container does not listen, so that somebody must from the
 * beginning on.
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): void {
  if (!told) for (const signal of STOP_SIGNALS) process.on(signal, () => told?.(signal));
  told = listener;
}
