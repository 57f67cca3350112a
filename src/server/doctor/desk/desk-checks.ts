import { MiB } from '../../../shared/units.ts';
import { readKeptToken } from '../../desk/access/token-file.ts';
import type { MoreChecks } from '../more-checks.ts';
import { checkDesk } from './check-desk.ts';
import { checkDeskSettings, listDeskSentences } from './check-desk-settings.ts';
import { checkStore } from './check-store.ts';

/** Space for the journal (256 MB), the queue of reports (64 MB) and build files (200 MB), in bytes. */
const OTHER_SPACE = 520 * MiB;

export const DESK_CHECKS: MoreChecks = {
  listSentences: listDeskSentences,
  checkSettings: checkDeskSettings,
  checkStore: ({ dataDir, deskDatabaseUrl }) => checkStore({ dataDir, databaseUrl: deskDatabaseUrl }),
  describeFolder: ({ deskDatabaseUrl, deskRetention }) => ({
    // With PostgreSQL, the folder has only data that waits for it.
    name: deskDatabaseUrl === undefined ? 'all data of the desk' : 'data that waits for PostgreSQL',
    isPrecious: deskDatabaseUrl === undefined,
    maxBytes: OTHER_SPACE + (deskDatabaseUrl === undefined ? deskRetention.maxBytes : 0),
    advice: 'Free some space, or lower DESK_MAX_SIZE.',
  }),
  readKeptToken,
  checkSite: checkDesk,
  page: '/desk',
  hideMetrics: { setting: 'DESK_PORT=3001    # for an internal network' },
};
