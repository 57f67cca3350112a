import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { CompiledQuery } from 'kysely';
import {
  type ApiStore,
  createMemoryStore,
  createPostgresStore,
  type Mail,
  report,
  type SendMail,
  type ServiceTools,
} from '#engine/server';
import { type Auth, createAuth } from './accounts/auth.ts';
import { migrate } from './database/migrate.ts';
import { type DatabaseOptions, openDatabase } from './database/open-database.ts';
import type { Database } from './database/tables.ts';
import type { Settings } from './settings.ts';

export interface Services {
  readonly db: Database;
  readonly auth: Auth;
  /** Counts attempts, and requests for the limits of the API. Servers with the same PostgreSQL count together. */
  readonly counts: ApiStore;
  /** False: email addresses are not confirmed, and passwords cannot be reset. */
  readonly hasMail: boolean;
  close(): Promise<void>;
}

export const services = {
  open(settings: Settings, { log }: ServiceTools): Promise<Services> {
    const { isLocal, sendMail = isLocal ? printMails(log) : undefined } = settings;
    const secret = settings.authSecret ?? readSecret(settings.authSecretFile);
    if (!sendMail) {
      log.warn({}, 'SMTP_URL and MAIL_FROM are not set: addresses are not confirmed, and passwords cannot be reset.');
    }
    return openServices({ ...settings, secret, sendMail, log });
  },
  close: (opened: Services) => opened.close(),
};

interface Options extends DatabaseOptions, ServiceTools {
  readonly secret: string;
  readonly origins: readonly string[];
  readonly sendMail: SendMail | undefined;
}

export async function openServices({ sendMail, ...options }: Options): Promise<Services> {
  const sending = new Set<Promise<unknown>>();
  const opened = openDatabase(options);
  const { db } = opened;
  /** The answer does not wait for the mail, because the time would reveal which accounts exist. */
  function send(mail: Mail): void {
    const sent: Promise<unknown> = Promise.resolve(sendMail?.(mail))
      .catch(report)
      .finally(() => sending.delete(sent));
    sending.add(sent);
  }
  const auth = createAuth({ ...options, database: opened, send: sendMail && send });
  await migrate(opened, auth.options);
  const query = (text: string, values: unknown[] = []) =>
    db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values));
  return {
    db,
    auth,
    counts: opened.type === 'postgres' ? createPostgresStore({ query }) : createMemoryStore(),
    hasMail: sendMail !== undefined,
    async close() {
      await Promise.all(sending);
      await db.destroy();
    },
  };
}

/** Makes a secret for development, and keeps it, so that a restart does not sign everyone out. */
function readSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

function printMails(log: ServiceTools['log']): SendMail {
  return async ({ to, subject, text }) => {
    log.info({ to }, `This mail was not sent, because SMTP_URL is not set.\n\n${subject}\n\n${text}`);
  };
}
