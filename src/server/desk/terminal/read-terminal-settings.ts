import { resolve } from 'node:path';
import { type Environment, readSettings, SETTINGS } from '../../config.ts';

/** What of the server's settings the command needs. The others may be wrong: that may be why it is needed. */
export interface TerminalSettings {
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly namespace: string;
  readonly sourceLink: string | undefined;
}

/** @throws ConfigError with a sentence for each wrong value */
export function readTerminalSettings(env: Environment): TerminalSettings {
  const { DATA_DIR, DESK_DATABASE_URL, DIGEST_NAMESPACE, SOURCE_LINK } = SETTINGS;
  const values = readSettings({ DATA_DIR, DESK_DATABASE_URL, DIGEST_NAMESPACE, SOURCE_LINK }, env);
  return {
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DESK_DATABASE_URL || undefined,
    namespace: values.DIGEST_NAMESPACE,
    sourceLink: values.SOURCE_LINK,
  };
}
