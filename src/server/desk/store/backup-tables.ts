/** A table of the store, as a backup holds it. */
export interface BackupTable {
  readonly name: string;
  /** What its rows are told apart by, and the order in which they are read. */
  readonly key: readonly string[];
  /** Rows that are read at once (a count): few where each may be large. */
  readonly page: number;
  /** A condition on the rows. */
  readonly where?: string;
  /** The database counts its `id` up. */
  readonly isSerial?: true;
}

/** Rows of a few hundred bytes, and rows of some KiB (counts). */
const SMALL = 1000;
const LARGE = 200;

/** All that a backup holds. */
export const BACKUP_TABLES: readonly BackupTable[] = [
  // With the salt of releases before schema 10, visitors can be looked up by trial.
  { name: 'desk_meta', key: ['name'], page: SMALL, where: "name <> 'salt'" },
  { name: 'desk_incidents', key: ['digest'], page: LARGE },
  { name: 'desk_hours', key: ['digest', 'hour'], page: SMALL },
  { name: 'desk_releases', key: ['digest', 'release', 'build'], page: SMALL },
  { name: 'desk_environments', key: ['digest', 'environment'], page: SMALL },
  { name: 'desk_occurrences', key: ['digest', 'occurrence'], page: SMALL },
  { name: 'desk_wholes', key: ['digest', 'occurrence'], page: LARGE },
  { name: 'desk_dictionaries', key: ['digest'], page: LARGE },
  { name: 'desk_visitors', key: ['digest'], page: LARGE },
  { name: 'desk_aliases', key: ['digest', 'occurrence'], page: SMALL },
  { name: 'desk_feedback', key: ['id'], page: LARGE },
  { name: 'desk_changes', key: ['id'], page: SMALL, isSerial: true },
  { name: 'desk_notes', key: ['id'], page: LARGE, isSerial: true },
  { name: 'desk_search', key: ['id'], page: LARGE, isSerial: true },
  { name: 'desk_forgotten', key: ['mark'], page: SMALL },
  // Where each journal goes on: what was taken in behind the backup is taken in again, where it still stands.
  { name: 'desk_journals', key: ['run'], page: SMALL },
  { name: 'desk_runs', key: ['id'], page: LARGE },
  { name: 'desk_builds', key: ['id'], page: SMALL },
  { name: 'desk_deployments', key: ['environment', 'build'], page: SMALL },
  { name: 'desk_build_files', key: ['build', 'path'], page: SMALL },
  { name: 'desk_blobs', key: ['hash'], page: 4 },
];

/**
 * Tables that a backup leaves out: the keys that visitors are hashed with; sessions and attempts to sign
 * in; and notifications, so that none is sent again.
 */
export const NOT_BACKED_UP: readonly string[] = [
  'desk_secrets',
  'desk_sessions',
  'desk_links',
  'desk_attempts',
  'desk_notices',
  'desk_targets',
];
