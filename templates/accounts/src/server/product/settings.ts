import { join } from 'node:path';
import { ConfigError, createMailer, defineSettings, parsed, type SettingsOf } from '#engine/server';

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
    AUTH_SECRET: {
      about: 'Signs cookies: at least 32 random characters, the same for all servers. Required on a public address.',
      example: 'the-output-of-openssl-rand-base64-32',
      schema: parsed(
        'is too short. Use at least 32 random characters, as `openssl rand -base64 32` makes them.',
        (text) => (text === '' || text.length >= 32 ? text : undefined),
      ).prefault(''),
    },
  },
  (values, config) => {
    /** Only this machine can reach the server. */
    const isLocal = config.isLoopback && config.publicOrigins.length === 0;
    if (!config.isLoopback && config.publicOrigins.length === 0)
      throw new ConfigError(['Set PUBLIC_ORIGINS. Links in mails begin with its first.']);
    if (!isLocal && values.AUTH_SECRET === '')
      throw new ConfigError(['Set AUTH_SECRET to at least 32 random characters. It signs cookies.']);
    return {
      databaseUrl: values.DATABASE_URL || undefined,
      databaseFile: join(config.dataDir, 'app.sqlite'),
      authSecret: values.AUTH_SECRET || undefined,
      authSecretFile: join(config.dataDir, 'auth-secret'),
      sendMail: createMailer(config),
      /** Links in mails begin with the first. It is never read from a request, because clients can send any `Host`. */
      origins: isLocal ? [`http://127.0.0.1:${config.port}`] : config.publicOrigins,
      isLocal,
    };
  },
  ({ DESK_DATABASE_URL, DATABASE_URL }) => (DESK_DATABASE_URL && !DATABASE_URL ? [OWN_DATABASE] : []),
);

const OWN_DATABASE =
  'DESK_DATABASE_URL is set, but DATABASE_URL is not: this server keeps users in a SQLite file, which other replicas do not see. Set DATABASE_URL for all of them.';

export type Settings = SettingsOf<typeof settings>;
