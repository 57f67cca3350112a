/** In development: the server was exchanged when its stream of events comes back after it was lost. */
export function reloadOnRestart(): void {
  const events = new EventSource('/_dev');
  let lost = false;
  events.onopen = () => {
    if (lost) location.reload();
  };
  events.onerror = () => {
    lost = true;
  };
}
