import type { Tracker } from '#engine/tracker';
import { DESK_API_PATH, routes } from '../shared/routes.tsx';
import { openTracker } from './open-tracker.ts';
import { readDeskSettings } from './read-settings.ts';
import { DESK_SETTINGS } from './settings.ts';

/** The desk as the tracker of a site: it shows each failure at `/desk/<address>`, to those who are signed in. */
export const desk: Tracker = {
  settings: DESK_SETTINGS,
  paths: ['/desk', DESK_API_PATH],
  guarded: ['/desk', `${DESK_API_PATH}/incidents`],
  routes,
  files: { folder: 'journal', files: ['instance.lock', 'desk.sqlite'] },
  toUrl: (address) => `/desk/${address.replace('-', '/')}`,
  configure(env, config) {
    const settings = readDeskSettings(env, config);
    return {
      // Anyone who knows such a URL can post to it.
      secrets: settings.notify?.webhooks ?? [],
      open: (host) => openTracker(host, settings),
    };
  },
};
