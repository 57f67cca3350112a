import type { DataRouter } from 'react-router';

const KEY = 'spillway:scroll';

/** Keeps where each entry of the history was scrolled to, over reloads too. */
export function keepScrollPositions(router: DataRouter): void {
  const positions = readPositions();
  router.enableScrollRestoration(
    positions,
    () => window.scrollY,
    (location) => location.key,
  );
  history.scrollRestoration = 'manual';
  addEventListener('pageshow', (event) => {
    if (event.persisted) history.scrollRestoration = 'manual';
  });
  addEventListener('pagehide', () => {
    positions[router.state.location.key] = window.scrollY;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(positions));
    } catch {
      // Without storage the positions live as long as the page.
    }
    history.scrollRestoration = 'auto'; // a reload is the browser's own to restore
  });
}

function readPositions(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, number>; // written above
  } catch {
    return {};
  }
}
