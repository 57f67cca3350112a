import { readConfig } from '#engine/testing';
import type { User } from '#product-server/accounts/users.ts';
import type { AppContext } from '#product-server/context.ts';
import type { Database } from '#product-server/database/tables.ts';
import { settings } from '#product-server/settings.ts';

export interface TestVisitor {
  /** For `loaderArgs`, `actionArgs` and `visitPage`. */
  readonly context: AppContext;
  /** The background jobs that were added, with their input. */
  readonly jobs: (readonly [name: string, input: unknown])[];
  /** The last user who was signed in, or undefined after sign-out. */
  readonly signedIn: () => User | undefined;
}

/** A visitor for tests of pages. @param user undefined if the visitor is not signed in */
export function createVisitor(db: Database, user?: User): TestVisitor {
  const jobs: TestVisitor['jobs'] = [];
  let signedIn = user;
  const queue = { add: async (name: string, input: unknown) => void jobs.push([name, input]) };
  return {
    jobs,
    signedIn: () => signedIn,
    context: {
      fetch,
      log: console,
      settings: settings.read({}, readConfig({})),
      services: { db, queue, close: async () => undefined },
      user,
      sender: '192.0.2.1',
      async signIn(next) {
        signedIn = next;
      },
      async signOut() {
        signedIn = undefined;
      },
    },
  };
}
