import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Tracker } from '#engine/tracker';
import { Second } from '../../shared/units.ts';
import { DESK_API_PATH, DESK_PATH } from '../shared/href.ts';
import { routes } from '../shared/routes.tsx';
import { JOURNAL_FOLDER, LOCK_FILE, SQLITE_FILE } from './data-files.ts';
import { openTracker } from './open-tracker.ts';
import { readDeskSettings } from './read-settings.ts';
import { DESK_SETTINGS } from './settings.ts';
import { NO_DESK } from './terminal/terminal-error.ts';

/** The desk as the tracker of a site: it shows each failure at `/desk/<address>`, to those who are signed in. */
export const desk: Tracker = {
  settings: DESK_SETTINGS,
  paths: [DESK_PATH, DESK_API_PATH],
  routes,
  files: { folder: JOURNAL_FOLDER, files: [LOCK_FILE, SQLITE_FILE] },
  check: {
    guarded: [DESK_PATH, `${DESK_API_PATH}/incidents`],
    headers: ['AUTH_PROXY_HEADER'],
    trouble: ['away', 'failing', 'restarting'],
  },
  toUrl: (address) => `${DESK_PATH}/${address.replace('-', '/')}`,
  configure(env, config) {
    const settings = readDeskSettings(env, config);
    return {
      // Anyone who knows such a URL can post to it.
      secrets: settings.notify?.webhooks ?? [],
      ...((settings.databaseUrl || existsSync(join(config.dataDir, SQLITE_FILE))) && { checkStore }),
      open: (host) => openTracker(host, settings),
    };
  },
};

/** How long the check of the store can take (ms): less than a query that waits for a connection of a pooler. */
const CHECK_TIMEOUT = 13 * Second;
const NO_ANSWER =
  'The store does not answer. Does PostgreSQL, or its pooler, allow five connections for each process and for this command?';

/** Runs the command of the terminal, which has both databases, unlike the server's bundle. */
function checkStore(dist: string): Promise<string | undefined> {
  const args = [join(dist, 'desk.mjs'), 'check'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: CHECK_TIMEOUT }, (error, _listed, said) => {
      const isAway = error !== null && !said.includes(NO_DESK);
      resolve(
        isAway
          ? `${said.trim() || NO_ANSWER} Until the desk's store can be used, failures wait in DATA_DIR.`
          : undefined,
      );
    });
  });
}
