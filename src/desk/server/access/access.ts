import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestInfo } from '#engine/server';
import type { OpenedTracker, Operator } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';
import { StoreError } from '../store/sql.ts';
import { withinTime } from '../within-time.ts';
import { proxyOperatorOf, sessionCookieOf, setSessionCookie } from './credentials.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** The sign-in state of one request, and the ways to change it. */
export interface Access {
  /** Undefined if nobody is signed in. */
  readonly operator: Operator | undefined;
  /** Whether the sign-in state is unknown because the store is unavailable. */
  readonly isAway: boolean;
  /** False if a proxy signs in each request. */
  readonly canSignOut: boolean;
  /** @throws StoreError */
  signIn(proof: Proof): Promise<SignedIn>;
  signOut(): Promise<void>;
}

export type Proof = { readonly token: string } | { readonly ticket: string };

export type ReadAccess = (req: IncomingMessage, res: ServerResponse) => Promise<Access>;

/** How long a page of the site waits for the store (ms). */
const IDENTIFY_TIME = 1 * Second;

/** Returns whether a visitor of the site is signed in to the desk; false if the store does not answer in time. */
export function createCanOpen(signIn: Pick<SignIn, 'identify' | 'isIssued'>): OpenedTracker['canOpen'] {
  return function canOpen(req) {
    const session = sessionCookieOf(req);
    if (session === undefined || !signIn.isIssued(session)) return false;
    const known = withinTime(IDENTIFY_TIME, signIn.identify(session));
    return known.then(
      (operator) => operator !== undefined,
      () => false,
    );
  };
}

/** Asks the store about the session of each request. */
export function createReadAccess(signIn: SignIn): ReadAccess {
  return async function readAccess(req, res) {
    const session = sessionCookieOf(req) ?? '';
    const proxied = proxyOperatorOf(req);
    let operator = proxied;
    let isAway = false;
    try {
      operator ??= await signIn.identify(session);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      isAway = true;
    }
    return {
      operator,
      isAway,
      canSignOut: proxied === undefined,
      async signIn(proof) {
        const { address } = requestInfo(req);
        const result =
          'ticket' in proof ? await signIn.byTicket(proof.ticket) : await signIn.byToken(proof.token, address);
        if (result.kind === 'too-many') res.setHeader('Retry-After', String(Math.ceil(result.waitMs / Second)));
        if (result.kind !== 'signed-in') return result;
        await signIn.end(session);
        setSessionCookie(req, res, result.session);
        return result;
      },
      async signOut() {
        await signIn.end(session);
        setSessionCookie(req, res, '');
      },
    };
  };
}
