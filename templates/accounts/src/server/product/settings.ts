import { join } from 'node:path';
import { createMailer, defineSettings, parsed, type SettingsOf, toggle } from '#engine/server';

/** The settings of your app. Loaders and handlers can read them. */
export const settings = defineSettings(
  {
    DATABASE_URL: {
      about: 'The PostgreSQL database of your app. Default: a SQLite file, app.sqlite in DATA_DIR.',
      example: 'postgres://user:password@db.example.com/app',
      schema: parsed('is not the URL of a PostgreSQL database, such as postgres://user:password@host/name.', (text) => {
        return text === '' || /^postgres(?:ql)?:\/\/[^/]/.test(text) ? text : undefined;
      }).prefault(''),
    },
    SEED: {
      about: 'Fills an empty database with examples. Only for development, because their password is public.',
      example: 'off',
      schema: toggle().prefault('off'),
    },
  },
  (values, config) => ({
    databaseUrl: values.DATABASE_URL || undefined,
    databaseFile: join(config.dataDir, 'app.sqlite'),
    seed: values.SEED,
    sendMail: createMailer(config),
    /** Links in mails begin with it. It is never read from a request, because clients can send any `Host`. */
    origin: config.publicOrigins[0] ?? (config.isLoopback ? `http://127.0.0.1:${config.port}` : undefined),
    /** On your machine, mails are printed to the log. */
    isLocal: config.isLoopback && config.publicOrigins.length === 0,
  }),
);

export type Settings = SettingsOf<typeof settings>;
