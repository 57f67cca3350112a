import type { Upgrades } from '../engine/http/upgrades.ts';

/**
 * WebSockets, by exact path: `{ '/live': (request, socket, head) => … }`. It is called with the
 * settings of `settings.ts`.
 */
export function createUpgrades(): Upgrades {
  return {};
}
