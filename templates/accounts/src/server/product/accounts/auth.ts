import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import type { GenericOAuthOptions } from 'better-auth/plugins';
import type { Mail, ServiceTools } from '#engine/server';
import { accountPaths } from '#product/account-paths.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { createHashing } from './hashing.ts';
import { addressHeader } from './visitor.ts';

export type Auth = ReturnType<typeof createAuth>;

/** What pages and the API know of the signed-in user. */
export interface User {
  readonly id: string;
  readonly email: string;
}

interface Options extends ServiceTools {
  readonly database: OpenDatabase;
  readonly secret: string;
  readonly origins: readonly string[];
  /** Undefined if no mail can be sent. */
  readonly send: ((mail: Mail) => void) | undefined;
}

/** Collects what better-auth logs during a call. Its answer only has a code. */
const logged = new AsyncLocalStorage<unknown[]>();

const DAYS = 24 * 60 * 60;

/** Sets up better-auth. Its options: https://better-auth.com/docs/reference/options */
export function createAuth({ database, secret, origins, send, log }: Options) {
  const origin = origins[0] ?? '';
  const auth = betterAuth({
    // Sign-in with other providers needs one line: socialProviders: { github: { clientId: '…', clientSecret: '…' } },
    secret,
    baseURL: origin,
    basePath: '/auth',
    trustedOrigins: [...origins],
    // Without transactions, because better-auth hashes passwords within them, and hashes wait for each other.
    database: { ...database, transaction: false },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 12,
      maxPasswordLength: 1000,
      password: createHashing(),
      requireEmailVerification: send !== undefined,
      revokeSessionsOnPasswordReset: true,
      ...(send && {
        sendResetPassword: async ({ user, token }) =>
          send(toMail(user, `${origin}${accountPaths.choosePassword}?token=${token}`)),
      }),
      // The link was sent to this address.
      async onPasswordReset({ user }) {
        const { internalAdapter } = await auth.$context;
        await internalAdapter.updateUser(user.id, { emailVerified: true });
        await endLinks(auth, user);
      },
    },
    session: { expiresIn: 30 * DAYS },
    user: {
      deleteUser: { enabled: true },
    },
    // Otherwise each visit of another provider's address would write a row.
    account: { storeStateStrategy: 'cookie' },
    // Only the hash of a link's token is stored.
    verification: { storeIdentifier: 'hashed' },
    // The pages count attempts, and only the answers of other providers reach better-auth from outside.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: 'app',
      useSecureCookies: origin.startsWith('https:'),
      ipAddress: { ipAddressHeaders: [addressHeader] },
    },
    onAPIError: { errorURL: `${origin}${accountPaths.signIn}` },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      // Only a warning, because a stranger can send a made-up answer of a provider. What failed is thrown or reported.
      log(_level, message, ...details) {
        logged.getStore()?.push(message, ...details);
        log.warn({ details }, message);
      },
    },
  });
  return auth;
}

/** Ends all links of a user. Someone else can have read older mails, and would choose the next password. */
export async function endLinks({ $context }: Pick<Auth, '$context'>, user: Pick<User, 'id'>): Promise<void> {
  const { adapter } = await $context;
  await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: user.id }] });
}

/** Calls better-auth. @returns also the messages and errors that it logged */
export async function withLog<Answer>(call: () => Promise<Answer>): Promise<[Answer, unknown[]]> {
  const log: unknown[] = [];
  return [await logged.run(log, call), log];
}

/** Lists the other providers that visitors can sign in with. */
export function listProviders({ options }: Auth): string[] {
  const { socialProviders = {}, plugins = [] }: BetterAuthOptions = options;
  const generic = plugins.filter(({ id }) => id === 'generic-oauth');
  const others = generic.flatMap(({ options }) => (options as GenericOAuthOptions).config);
  return [...Object.keys(socialProviders), ...others.map(({ providerId }) => providerId)];
}

function toMail({ email, emailVerified }: { email: string; emailVerified: boolean }, link: string): Mail {
  const [subject, why] = emailVerified
    ? ['Choose a new password', 'Use this link to choose a new password:']
    : ['Confirm your email address', 'Use this link to confirm your email address and to choose a password:'];
  const end = 'The link works once, within an hour. If you did not ask for it, ignore this mail: nothing changes.';
  return { uid: randomUUID(), to: [email], subject, text: `${why}\n\n${link}\n\n${end}\n` };
}
