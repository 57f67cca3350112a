import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Mail, ServiceTools } from '#engine/server';
import type { E2eServer } from '#engine/testing';
import type { User } from '#product-server/accounts/auth.ts';
import { openServices, type Services } from '#product-server/services.ts';
import { createTestSettings } from './test-settings.ts';

/** Returns where to open an empty database: in memory, or in PostgreSQL if `createTestSettings()` says so. */
export async function createEmptyDatabase(databaseFile = ':memory:') {
  const { DATABASE_URL: databaseUrl } = await createTestSettings();
  return { databaseFile, databaseUrl };
}

export interface TestServicesOptions {
  /** False: as without `SMTP_URL`. */
  readonly hasMail?: boolean;
  readonly origin?: string;
  readonly log?: ServiceTools['log'];
}

/** Opens your services with an empty database, until the test ends. `mails` gets what they send. */
export async function openTestServices({
  hasMail = true,
  origin = 'http://localhost:3000',
  log = console,
}: TestServicesOptions = {}) {
  const mails: Mail[] = [];
  const services = await openServices({
    ...(await createEmptyDatabase()),
    secret: 'a secret of tests, with more than 32 characters',
    origins: [origin],
    log,
    sendMail: hasMail ? async (mail) => void mails.push(mail) : undefined,
  });
  onTestFinished(() => services.close());
  return { services, mails };
}

/** Adds a user, without a password. */
export async function addUser({ auth }: Services, email = 'ada@example.com'): Promise<User> {
  const { internalAdapter } = await auth.$context;
  const { id } = await internalAdapter.createUser(
    { email, name: '', emailVerified: true },
    { method: 'email-password' },
  );
  return { id, email };
}

/** Signs a user in. @returns the cookie */
export async function startSession({ auth }: Services, { id }: User): Promise<string> {
  const { internalAdapter, authCookies, secret } = await auth.$context;
  const { token } = await internalAdapter.createSession(id);
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  return `${authCookies.sessionToken.name}=${encodeURIComponent(`${token}.${signature}`)}`;
}

/** Signs a new user in to the server of a browser test. @returns the cookie for `site.open(path, { cookie })` */
export async function signInAt({ url, dataDir, env }: Pick<E2eServer, 'url' | 'dataDir' | 'env'>) {
  const services = await openServices({
    databaseUrl: env.DATABASE_URL,
    databaseFile: join(dataDir, 'app.sqlite'),
    secret: readFileSync(join(dataDir, 'auth-secret'), 'utf8'),
    origins: [url],
    log: console,
    sendMail: undefined,
  });
  try {
    const cookie = await startSession(services, await addUser(services, `${randomUUID()}@example.com`));
    const [name = '', value = ''] = cookie.split(/=(.*)/s);
    return { name, value, url };
  } finally {
    await services.close();
  }
}
