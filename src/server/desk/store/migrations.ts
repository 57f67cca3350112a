import type { Sql, SqlDialect, SqlDriver } from './sql.ts';
import { hasTable, StoreAwayError } from './sql.ts';
import { adoptOldSalt } from './visitors/secret-table.ts';

/**
 * One step of the schema. Within a major version, migrations only add, so that the previous release can run
 * at the same time and after a rollback. A migration that breaks older releases sets `oldestWriter`.
 */
interface Migration {
  readonly version: number;
  /** The oldest schema version whose releases can still write. Undefined if it stays the same. */
  readonly oldestWriter?: number;
  statements(dialect: SqlDialect): readonly string[];
}

const migrations: readonly Migration[] = [
  {
    version: 1,
    oldestWriter: 1,
    statements: ({ blob, keyed }) => [
      `CREATE TABLE desk_incidents (
        digest TEXT PRIMARY KEY,
        rule BIGINT NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        class TEXT NOT NULL,
        message TEXT NOT NULL,
        site_path TEXT,
        site_function TEXT,
        site_detail TEXT,
        route TEXT,
        weak BIGINT NOT NULL,
        state TEXT NOT NULL,
        first_side TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        first_release TEXT NOT NULL,
        first_build TEXT NOT NULL,
        last_release TEXT NOT NULL,
        last_build TEXT NOT NULL,
        server_count BIGINT NOT NULL,
        browser_count BIGINT NOT NULL
      )`,
      'CREATE INDEX desk_incidents_last ON desk_incidents (last_at)',
      'CREATE INDEX desk_incidents_first ON desk_incidents (first_side, first_at)',
      `CREATE TABLE desk_hours (
        digest TEXT NOT NULL,
        hour BIGINT NOT NULL,
        server_count BIGINT NOT NULL,
        browser_count BIGINT NOT NULL,
        kept BIGINT NOT NULL,
        wholes BIGINT NOT NULL,
        PRIMARY KEY (digest, hour)
      ) ${keyed}`,
      `CREATE TABLE desk_releases (
        digest TEXT NOT NULL,
        release TEXT NOT NULL,
        build TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        count BIGINT NOT NULL,
        PRIMARY KEY (digest, release, build)
      ) ${keyed}`,
      `CREATE TABLE desk_occurrences (
        digest TEXT NOT NULL,
        occurrence TEXT NOT NULL,
        at BIGINT NOT NULL,
        side TEXT NOT NULL,
        request_id TEXT,
        build TEXT NOT NULL,
        release TEXT NOT NULL,
        route TEXT,
        visitor TEXT,
        PRIMARY KEY (digest, occurrence)
      ) ${keyed}`,
      'CREATE INDEX desk_occurrences_of ON desk_occurrences (digest, at)',
      'CREATE INDEX desk_occurrences_at ON desk_occurrences (at)',
      `CREATE TABLE desk_wholes (
        digest TEXT NOT NULL,
        occurrence TEXT NOT NULL,
        role TEXT NOT NULL,
        at BIGINT NOT NULL,
        data ${blob} NOT NULL,
        PRIMARY KEY (digest, occurrence)
      )`,
      'CREATE INDEX desk_wholes_of ON desk_wholes (digest, role, at)',
      'CREATE INDEX desk_wholes_at ON desk_wholes (at)',
      `CREATE TABLE desk_aliases (
        digest TEXT NOT NULL,
        occurrence TEXT NOT NULL,
        target TEXT NOT NULL,
        reason TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (digest, occurrence)
      )`,
      'CREATE INDEX desk_aliases_target ON desk_aliases (target)',
      `CREATE TABLE desk_journals (
        run TEXT PRIMARY KEY,
        segment BIGINT NOT NULL,
        taken BIGINT NOT NULL,
        at BIGINT NOT NULL
      )`,
      `CREATE TABLE desk_runs (
        id TEXT PRIMARY KEY,
        build TEXT NOT NULL,
        release TEXT NOT NULL,
        started_at BIGINT NOT NULL,
        beat_at BIGINT NOT NULL,
        ended_at BIGINT,
        ended TEXT,
        memory BIGINT NOT NULL,
        in_flight TEXT NOT NULL,
        blocked TEXT
      )`,
      `CREATE TABLE desk_builds (
        id TEXT PRIMARY KEY,
        release TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        used_at BIGINT NOT NULL,
        published BIGINT NOT NULL
      )`,
      `CREATE TABLE desk_build_files (
        build TEXT NOT NULL,
        path TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (build, path)
      )`,
      'CREATE INDEX desk_build_files_path ON desk_build_files (path)',
      'CREATE INDEX desk_build_files_hash ON desk_build_files (hash)',
      `CREATE TABLE desk_blobs (
        hash TEXT PRIMARY KEY,
        size BIGINT NOT NULL,
        data ${blob} NOT NULL
      )`,
    ],
  },
  {
    version: 2,
    statements: () => [
      `CREATE TABLE desk_feedback (
        id TEXT PRIMARY KEY,
        event_id TEXT,
        occurrence TEXT,
        text TEXT NOT NULL,
        name TEXT,
        email TEXT,
        url TEXT,
        at BIGINT NOT NULL,
        visitor TEXT
      )`,
      'CREATE INDEX desk_feedback_of ON desk_feedback (occurrence)',
      'CREATE INDEX desk_feedback_at ON desk_feedback (at)',
    ],
  },
  {
    version: 3,
    statements: ({ blob, keyed, serial }) => [
      // Columns with a default, because the previous release inserts rows without them.
      ...[
        'version BIGINT NOT NULL DEFAULT 0',
        'visitors BIGINT NOT NULL DEFAULT 0',
        'shape TEXT',
        'assignee TEXT',
        'merged_into TEXT',
        'merged_count BIGINT NOT NULL DEFAULT 0',
        'state_at BIGINT NOT NULL DEFAULT 0',
        'state_by TEXT',
        'resolved_in TEXT',
        'ignored_until BIGINT',
        'ignored_growth BIGINT',
        'ignored_server BIGINT NOT NULL DEFAULT 0',
        'ignored_browser BIGINT NOT NULL DEFAULT 0',
        'regressed_at BIGINT',
        'regressed_release TEXT',
      ].map((column) => `ALTER TABLE desk_incidents ADD COLUMN ${column}`),
      'CREATE INDEX desk_incidents_state ON desk_incidents (state, last_at)',
      'CREATE INDEX desk_incidents_into ON desk_incidents (merged_into) WHERE merged_into IS NOT NULL',
      'CREATE INDEX desk_incidents_joined ON desk_incidents (digest) WHERE merged_count > 0',
      'CREATE INDEX desk_incidents_site ON desk_incidents (site_path)',
      'CREATE INDEX desk_incidents_shape ON desk_incidents (shape)',
      'CREATE INDEX desk_incidents_ignored ON desk_incidents (ignored_until) WHERE ignored_until IS NOT NULL',
      `CREATE TABLE desk_visitors (
        digest TEXT PRIMARY KEY,
        sketch ${blob} NOT NULL
      )`,
      `CREATE TABLE desk_changes (
        id ${serial} PRIMARY KEY,
        digest TEXT NOT NULL,
        at BIGINT NOT NULL,
        author TEXT NOT NULL,
        action TEXT NOT NULL,
        detail TEXT NOT NULL
      )`,
      'CREATE INDEX desk_changes_of ON desk_changes (digest, at)',
      `CREATE TABLE desk_notes (
        id ${serial} PRIMARY KEY,
        digest TEXT NOT NULL,
        at BIGINT NOT NULL,
        author TEXT NOT NULL,
        text TEXT NOT NULL
      )`,
      'CREATE INDEX desk_notes_of ON desk_notes (digest, at)',
      `CREATE TABLE desk_search (
        id ${serial} PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL
      )`,
      // Existing incidents are found by their columns. SQLite's `lower` changes only ASCII.
      `INSERT INTO desk_search (digest, text) SELECT digest, lower(digest || '\n' || title || '\n' || message || '\n'
        || COALESCE(site_path, '') || '\n' || COALESCE(site_function, '') || '\n' || COALESCE(route, ''))
        FROM desk_incidents WHERE rule > 0`,
      `CREATE TABLE desk_dictionaries (
        digest TEXT PRIMARY KEY,
        data ${blob} NOT NULL
      )`,
      'ALTER TABLE desk_wholes ADD COLUMN shared BIGINT NOT NULL DEFAULT 0',
      'ALTER TABLE desk_occurrences ADD COLUMN trace_id TEXT',
      // The first characters distinguish nearly all ids, and the index is a third of the size.
      'CREATE INDEX desk_occurrences_request ON desk_occurrences (substr(request_id, 1, 12)) WHERE request_id IS NOT NULL',
      'CREATE INDEX desk_occurrences_trace ON desk_occurrences (substr(trace_id, 1, 12)) WHERE trace_id IS NOT NULL',
      'ALTER TABLE desk_feedback ADD COLUMN digest TEXT',
      'CREATE INDEX desk_aliases_occurrence ON desk_aliases (occurrence)',
      `CREATE TABLE desk_sessions (
        id_hash TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      `CREATE TABLE desk_links (
        id_hash TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      `CREATE TABLE desk_attempts (
        sender TEXT NOT NULL,
        minute BIGINT NOT NULL,
        count BIGINT NOT NULL,
        PRIMARY KEY (sender, minute)
      ) ${keyed}`,
      "INSERT INTO desk_meta (name, value) VALUES ('changes', '0') ON CONFLICT (name) DO NOTHING",
    ],
  },
  {
    version: 4,
    statements: ({ keyed }) => [
      `CREATE TABLE desk_forgotten (
        mark TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (mark)
      ) ${keyed}`,
    ],
  },
  {
    version: 5,
    statements: ({ serial }) => [
      "ALTER TABLE desk_incidents ADD COLUMN untold TEXT DEFAULT 'new'",
      // Existing incidents need no notification.
      'UPDATE desk_incidents SET untold = NULL',
      'ALTER TABLE desk_incidents ADD COLUMN stormed_at BIGINT NOT NULL DEFAULT 0',
      `CREATE TABLE desk_notices (
        id ${serial} PRIMARY KEY,
        uid TEXT NOT NULL,
        target TEXT NOT NULL,
        target_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        digest TEXT,
        detail TEXT NOT NULL,
        made_at BIGINT NOT NULL,
        state TEXT NOT NULL,
        due_at BIGINT NOT NULL,
        begun_at BIGINT,
        done_at BIGINT,
        tries BIGINT NOT NULL DEFAULT 0,
        outcome TEXT NOT NULL DEFAULT '',
        summary BIGINT
      )`,
      "CREATE INDEX desk_notices_due ON desk_notices (target, due_at) WHERE state = 'waiting'",
      'CREATE INDEX desk_notices_begun ON desk_notices (target, begun_at)',
      'CREATE INDEX desk_notices_summary ON desk_notices (summary) WHERE summary IS NOT NULL',
      `CREATE TABLE desk_targets (
        id TEXT PRIMARY KEY,
        failures BIGINT NOT NULL,
        paused_until BIGINT NOT NULL
      )`,
      "INSERT INTO desk_meta (name, value) VALUES ('notices', '') ON CONFLICT (name) DO NOTHING",
    ],
  },
  {
    version: 6,
    statements: ({ keyed }) => [
      // The environments that saw an incident. For older incidents they are unknown.
      `CREATE TABLE desk_environments (
        digest TEXT NOT NULL,
        environment TEXT NOT NULL,
        PRIMARY KEY (digest, environment)
      ) ${keyed}`,
      'CREATE INDEX desk_environments_all ON desk_environments (environment)',
      'ALTER TABLE desk_runs ADD COLUMN environment TEXT',
    ],
  },
  {
    version: 7,
    statements: () => ['ALTER TABLE desk_runs ADD COLUMN memory_story TEXT'],
  },
  {
    version: 8,
    statements: () => ['ALTER TABLE desk_incidents ADD COLUMN site_line BIGINT'],
  },
  {
    version: 9,
    statements: ({ keyed }) => [
      // Set for incidents outside of the home environment (`incident-key.ts`).
      'ALTER TABLE desk_incidents ADD COLUMN environment TEXT',
      'CREATE INDEX desk_incidents_environment ON desk_incidents (environment, last_at)',
      // When a build was first started in an environment. The empty build represents the environment itself.
      `CREATE TABLE desk_deployments (
        environment TEXT NOT NULL,
        build TEXT NOT NULL,
        first_at BIGINT NOT NULL,
        PRIMARY KEY (environment, build)
      ) ${keyed}`,
      'CREATE INDEX desk_occurrences_name ON desk_occurrences (occurrence)',
    ],
  },
  {
    version: 10,
    statements: ({ keyed }) => [
      // See `secret-table.ts` for the rows and when they are deleted. Backups do not include this table.
      `CREATE TABLE desk_secrets (
        name TEXT NOT NULL,
        day BIGINT NOT NULL,
        secret TEXT NOT NULL,
        common BIGINT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (name, day, secret)
      ) ${keyed}`,
      'CREATE UNIQUE INDEX desk_secrets_common ON desk_secrets (name, day) WHERE common = 1',
    ],
  },
  {
    version: 11,
    statements: () => [
      // For the page and the deletion of an incident, and for the list in the order of first occurrences.
      'CREATE INDEX desk_feedback_digest ON desk_feedback (digest, at)',
      'CREATE INDEX desk_incidents_first_at ON desk_incidents (first_at)',
    ],
  },
  {
    version: 12,
    statements: ({ keyed }) => [
      // Each process has its own rows, so that it can replace them.
      `CREATE TABLE desk_routes (
        environment TEXT NOT NULL,
        hour BIGINT NOT NULL,
        run TEXT NOT NULL,
        route TEXT NOT NULL,
        errors BIGINT NOT NULL,
        buckets TEXT NOT NULL,
        slowest TEXT,
        PRIMARY KEY (environment, hour, run, route)
      ) ${keyed}`,
    ],
  },
];

/** The newest schema that this release knows. */
export const SCHEMA_VERSION = migrations.at(-1)?.version ?? 0;

/**
 * Upgrades the schema to this release. If several processes start at the same time, one of them does it.
 *
 * @throws StoreAwayError if a newer release has changed the schema so that this one cannot write to it
 */
export async function migrate(
  driver: SqlDriver,
  { rule, environment }: { readonly rule: number; readonly environment: string },
): Promise<void> {
  await driver.migration(async (sql) => {
    await lockSchema(sql);
    const meta = await applyMigrations(sql);
    await adoptOldSalt(sql);
    if (meta.home_environment === undefined)
      await writeMeta(sql, 'home_environment', await chooseHome(sql, environment));
    await sql.run(
      `INSERT INTO desk_deployments (environment, build, first_at) VALUES (?, '', ${sql.dialect.now}) ON CONFLICT DO NOTHING`,
      [environment],
    );
    if (Number(meta.rule ?? 0) < rule) await writeMeta(sql, 'rule', String(rule));
  });
}

/**
 * Chooses the environment that takes over the incidents of earlier releases, which kept one set for all
 * environments: production if it was seen, else the most frequent one. A new store takes the first
 * environment that opens it.
 */
async function chooseHome(sql: Sql, own: string): Promise<string> {
  const [known] = await sql.all<{ environment: string }>(
    `SELECT environment FROM desk_environments GROUP BY environment
      ORDER BY CASE WHEN environment = 'production' THEN 0 ELSE 1 END, COUNT(*) DESC, environment LIMIT 1`,
  );
  return known?.environment ?? own;
}

/** Locks the schema against changes by other processes until the transaction ends. */
export async function lockSchema(sql: Sql): Promise<void> {
  // An arbitrary number that nothing else uses: "desk" in ASCII.
  if (sql.dialect.name === 'postgres') await sql.all('SELECT pg_advisory_xact_lock(1684370283)');
}

/**
 * Applies the missing migrations in a transaction.
 *
 * @param to the last version to apply, for example the schema that a backup was made from
 * @returns the entries of `desk_meta` before the migrations
 */
export async function applyMigrations(sql: Sql, to = SCHEMA_VERSION): Promise<Readonly<Record<string, string>>> {
  await sql.run('CREATE TABLE IF NOT EXISTS desk_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)');
  const meta = await readMeta(sql);
  requireWriter(meta);
  const version = Number(meta.schema ?? 0);
  for (const migration of migrations) {
    if (migration.version > version && migration.version <= to) await apply(sql, migration);
  }
  return meta;
}

/** Reports whether a database has the desk's tables. */
export function hasSchema(sql: Sql): Promise<boolean> {
  return hasTable(sql, 'desk_meta');
}

async function apply(sql: Sql, migration: Migration): Promise<void> {
  for (const statement of migration.statements(sql.dialect)) await sql.run(statement);
  await writeMeta(sql, 'schema', String(migration.version));
  if (migration.oldestWriter !== undefined) await writeMeta(sql, 'oldest_writer', String(migration.oldestWriter));
}

function requireWriter(meta: Readonly<Record<string, string>>): void {
  if (Number(meta.oldest_writer ?? 0) <= SCHEMA_VERSION) return;
  throw new StoreAwayError(
    `The desk's database was made by a newer release (schema ${meta.schema}), which an older one may not write to. Pages are served, and failures wait in the journal, until a newer release is started.`,
  );
}

/**
 * Reads `desk_meta`: `schema`, `oldest_writer`, `rule`, `changes`, `home_environment`, and `salt`, which
 * releases before schema 10 use.
 */
export async function readMeta(sql: Sql): Promise<Readonly<Record<string, string>>> {
  const rows = await sql.all<{ name: string; value: string }>('SELECT name, value FROM desk_meta');
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

export async function writeMeta(sql: Sql, name: string, value: string): Promise<void> {
  await sql.run(
    'INSERT INTO desk_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [name, value],
  );
}
