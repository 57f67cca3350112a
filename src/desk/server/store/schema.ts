import { readMeta, type Sql, type SqlDialect, type SqlDriver, StoreAwayError, writeMeta } from './sql.ts';

/**
 * One step of the schema. Within a major version, migrations only add, so that the previous release can run at the same
 * time and after a rollback. A migration that breaks older releases sets `oldestWriter`.
 */
interface Migration {
  readonly version: number;
  /** The oldest schema version whose releases can still write. Undefined if it stays the same. */
  readonly oldestWriter?: number;
  statements(dialect: SqlDialect): readonly string[];
}

/** The schema of 0.3.0. Databases with a lower number are from unpublished versions. */
const FIRST = 17;

const migrations: readonly Migration[] = [
  {
    version: FIRST,
    oldestWriter: FIRST,
    statements: ({ blob, keyed, serial }) => [
      `CREATE TABLE desk_incidents (
        key TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        environment TEXT NOT NULL,
        described BIGINT NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        message TEXT NOT NULL,
        location_path TEXT,
        location_function TEXT,
        location_line BIGINT,
        route TEXT,
        state TEXT NOT NULL DEFAULT 'open',
        version BIGINT NOT NULL DEFAULT 0,
        state_at BIGINT,
        state_by TEXT,
        resolved_in TEXT,
        ignored_until BIGINT,
        ignored_growth BIGINT,
        ignored_server BIGINT NOT NULL DEFAULT 0,
        ignored_browser BIGINT NOT NULL DEFAULT 0,
        regressed_release TEXT,
        due_event TEXT DEFAULT 'new',
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        first_release TEXT NOT NULL,
        last_release TEXT NOT NULL,
        server_count BIGINT NOT NULL,
        browser_count BIGINT NOT NULL,
        visitors BIGINT NOT NULL DEFAULT 0,
        search TEXT NOT NULL DEFAULT ''
      )`,
      'CREATE INDEX desk_incidents_last ON desk_incidents (environment, last_at)',
      'CREATE INDEX desk_incidents_state ON desk_incidents (environment, state, last_at)',
      'CREATE INDEX desk_incidents_first ON desk_incidents (environment, first_at)',
      'CREATE INDEX desk_incidents_digest ON desk_incidents (digest)',
      'CREATE INDEX desk_incidents_ignored ON desk_incidents (ignored_until) WHERE ignored_until IS NOT NULL',
      `CREATE TABLE desk_hours (
        key TEXT NOT NULL,
        hour BIGINT NOT NULL,
        server_count BIGINT NOT NULL,
        browser_count BIGINT NOT NULL,
        server_full BIGINT NOT NULL,
        browser_full BIGINT NOT NULL,
        PRIMARY KEY (key, hour)
      ) ${keyed}`,
      `CREATE TABLE desk_releases (
        key TEXT NOT NULL,
        release TEXT NOT NULL,
        build TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        count BIGINT NOT NULL,
        regressed_at BIGINT,
        PRIMARY KEY (key, release, build)
      ) ${keyed}`,
      `CREATE TABLE desk_occurrences (
        key TEXT NOT NULL,
        occurrence TEXT NOT NULL,
        at BIGINT NOT NULL,
        side TEXT NOT NULL,
        build TEXT NOT NULL,
        release TEXT NOT NULL,
        route TEXT,
        request_id TEXT,
        trace_id TEXT,
        visitor TEXT,
        payload ${blob},
        PRIMARY KEY (key, occurrence)
      )`,
      'CREATE INDEX desk_occurrences_of ON desk_occurrences (key, at)',
      'CREATE INDEX desk_occurrences_at ON desk_occurrences (at)',
      'CREATE INDEX desk_occurrences_full ON desk_occurrences (key, at) WHERE payload IS NOT NULL',
      'CREATE INDEX desk_occurrences_name ON desk_occurrences (occurrence)',
      'CREATE INDEX desk_occurrences_visitor ON desk_occurrences (visitor, key) WHERE visitor IS NOT NULL',
      'CREATE INDEX desk_occurrences_request ON desk_occurrences (request_id) WHERE request_id IS NOT NULL',
      'CREATE INDEX desk_occurrences_trace ON desk_occurrences (trace_id) WHERE trace_id IS NOT NULL',
      // Addresses that lead to another incident, see `alias-table.ts`.
      `CREATE TABLE desk_aliases (
        key TEXT NOT NULL,
        occurrence TEXT NOT NULL,
        target_key TEXT NOT NULL,
        target_occurrence TEXT NOT NULL,
        reason TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (key, occurrence)
      ) ${keyed}`,
      'CREATE INDEX desk_aliases_target ON desk_aliases (target_key, target_occurrence)',
      'CREATE INDEX desk_aliases_occurrence ON desk_aliases (occurrence)',
      `CREATE TABLE desk_changes (
        id ${serial} PRIMARY KEY,
        key TEXT NOT NULL,
        at BIGINT NOT NULL,
        author TEXT NOT NULL,
        action TEXT NOT NULL,
        detail TEXT NOT NULL
      )`,
      'CREATE INDEX desk_changes_of ON desk_changes (key, at)',
      `CREATE TABLE desk_notes (
        id ${serial} PRIMARY KEY,
        key TEXT NOT NULL,
        at BIGINT NOT NULL,
        author TEXT NOT NULL,
        text TEXT NOT NULL
      )`,
      'CREATE INDEX desk_notes_of ON desk_notes (key, at)',
      `CREATE TABLE desk_journals (
        process TEXT PRIMARY KEY,
        segment BIGINT NOT NULL,
        position BIGINT NOT NULL,
        at BIGINT NOT NULL
      )`,
      `CREATE TABLE desk_processes (
        id TEXT PRIMARY KEY,
        build TEXT NOT NULL,
        release TEXT NOT NULL,
        environment TEXT NOT NULL,
        started_at BIGINT NOT NULL,
        beat_at BIGINT NOT NULL,
        ended_at BIGINT,
        ended TEXT,
        state TEXT NOT NULL
      )`,
      `CREATE TABLE desk_builds (
        id TEXT PRIMARY KEY,
        release TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        used_at BIGINT NOT NULL,
        published BIGINT NOT NULL
      )`,
      // When a build was first started in an environment.
      `CREATE TABLE desk_deployments (
        environment TEXT NOT NULL,
        build TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        PRIMARY KEY (environment, build)
      ) ${keyed}`,
      `CREATE TABLE desk_build_files (
        build TEXT NOT NULL,
        path TEXT NOT NULL,
        size BIGINT NOT NULL,
        data ${blob} NOT NULL,
        PRIMARY KEY (build, path)
      )`,
      'CREATE INDEX desk_build_files_path ON desk_build_files (path)',
      // Also sign-in links that were not used yet.
      'CREATE TABLE desk_sessions (id_hash TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)',
      // The salts that visitors are hashed with, see `visitor-table.ts`.
      'CREATE TABLE desk_salts (day BIGINT PRIMARY KEY, salt TEXT NOT NULL)',
      // Salts that only one process used, because it could not read the others yet.
      'CREATE TABLE desk_local_salts (day BIGINT NOT NULL, salt TEXT NOT NULL, PRIMARY KEY (day, salt))',
      `CREATE TABLE desk_notifications (
        id ${serial} PRIMARY KEY,
        target TEXT NOT NULL,
        target_name TEXT NOT NULL,
        event TEXT NOT NULL,
        key TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        state TEXT NOT NULL,
        due_at BIGINT NOT NULL,
        message TEXT,
        attempts BIGINT NOT NULL DEFAULT 0,
        tried_at BIGINT,
        result TEXT NOT NULL DEFAULT ''
      )`,
      "CREATE INDEX desk_notifications_due ON desk_notifications (target, due_at) WHERE state = 'waiting'",
      'CREATE INDEX desk_notifications_message ON desk_notifications (message) WHERE message IS NOT NULL',
      // Pages that replicas have to render again.
      `CREATE TABLE desk_revalidations (path TEXT PRIMARY KEY, at BIGINT NOT NULL) ${keyed}`,
      "INSERT INTO desk_meta (name, value) VALUES ('changes', '0'), ('notifications', '')",
    ],
  },
];

/** The newest schema that this release knows. */
export const SCHEMA_VERSION = migrations.at(-1)?.version ?? 0;

/**
 * Creates the schema, or upgrades it to this release. If several processes start at the same time, one of them does it.
 *
 * @throws StoreAwayError if another release made the database in a way that this one cannot write to
 */
export async function migrate(driver: SqlDriver): Promise<void> {
  await driver.migration(async (sql) => {
    await lockSchema(sql);
    await sql.run('CREATE TABLE IF NOT EXISTS desk_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)');
    const meta = await readMeta(sql);
    requireWritable(meta);
    for (const { version, oldestWriter, statements } of migrations) {
      if (version <= Number(meta.schema ?? 0)) continue;
      for (const statement of statements(sql.dialect)) await sql.run(statement);
      await writeMeta(sql, 'schema', String(version));
      if (oldestWriter !== undefined) await writeMeta(sql, 'oldest_writer', String(oldestWriter));
    }
  });
}

/** Locks the schema against changes by other processes until the transaction ends. */
async function lockSchema(sql: Sql): Promise<void> {
  // An arbitrary number that nothing else uses: "desk" in ASCII.
  if (sql.dialect.name === 'postgres') await sql.all('SELECT pg_advisory_xact_lock(1684370283)');
}

function requireWritable({ schema, oldest_writer: oldestWriter = '0' }: Readonly<Record<string, string>>): void {
  if (schema !== undefined && Number(schema) < FIRST) {
    throw new StoreAwayError(
      "The desk's database was made by a version before 0.3.0, which this version cannot read. To keep it, copy DATA_DIR/desk.sqlite or dump the tables desk_* now. Then delete that file or those tables, and restart. Until then pages are served, and failures wait in the journal.",
    );
  }
  if (Number(oldestWriter) > SCHEMA_VERSION) {
    throw new StoreAwayError(
      `The desk's database was made by a newer release (schema ${schema}), which an older one may not write to. Pages are served, and failures wait in the journal, until a newer release is started.`,
    );
  }
}
