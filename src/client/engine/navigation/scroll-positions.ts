import type { DataRouter, Location } from 'react-router';

const KEY = 'spillway:scroll';

/** Keeps the scroll position of each history entry, also over reloads. */
export function keepScrollPositions(router: DataRouter): void {
  const positions = readPositions();
  router.enableScrollRestoration(positions, () => window.scrollY, toEntry);
  history.scrollRestoration = 'manual';
  addEventListener('pageshow', (event) => {
    if (event.persisted) history.scrollRestoration = 'manual';
  });
  addEventListener('pagehide', () => {
    positions[toEntry(router.state.location)] = window.scrollY;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(positions));
    } catch {
      // Without storage, the positions last as long as the page.
    }
    history.scrollRestoration = 'auto'; // the browser restores a reload itself
  });
}

/** Entries that the browser made itself, such as for a hash link, have no key. */
function toEntry({ key, pathname, search, hash }: Pick<Location, 'key' | 'pathname' | 'search' | 'hash'>): string {
  return key === 'default' ? pathname + search + hash : key;
}

function readPositions(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, number>; // written above
  } catch {
    return {};
  }
}
