import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestInfo } from '#engine/server';
import type { OpenedTracker, Operator } from '#engine/tracker';
import { Millisecond, Second } from '../../../shared/units.ts';
import { StoreError } from '../store/sql.ts';
import { withinTime } from '../within-time.ts';
import { clearSessionCookie, proxyOperatorOf, sessionCookieOf, setSessionCookie } from './credentials.ts';
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
const PATIENCE = 250 * Millisecond;

/** Returns whether a visitor of the site is signed in to the desk; false if the store does not answer in time. */
export function createCanOpen(signIn: Pick<SignIn, 'identify' | 'isIssued'>): OpenedTracker['canOpen'] {
  return function canOpen(req) {
    const session = sessionCookieOf(req);
    if (session === undefined || !signIn.isIssued(session)) return false;
    const known = withinTime(PATIENCE, signIn.identify(session));
    return known.then(
      (operator) => operator !== undefined,
      () => false,
    );
  };
}

/** Asks the store about the session of each request. */
export function createReadAccess(signIn: SignIn): ReadAccess {
  return async function readAccess(req, res) {
    const proxied = proxyOperatorOf(req);
    if (proxied) return new RequestAccess(signIn, req, res, { operator: proxied, isProxied: true });
    const session = sessionCookieOf(req) ?? '';
    try {
      return new RequestAccess(signIn, req, res, { operator: await signIn.identify(session) });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return new RequestAccess(signIn, req, res, { isAway: true });
    }
  };
}

class RequestAccess implements Access {
  readonly operator: Operator | undefined;
  readonly isAway: boolean;
  readonly canSignOut: boolean;
  readonly #signIn: SignIn;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;

  constructor(
    signIn: SignIn,
    req: IncomingMessage,
    res: ServerResponse,
    known: { operator?: Operator | undefined; isAway?: boolean; isProxied?: boolean },
  ) {
    this.#signIn = signIn;
    this.#req = req;
    this.#res = res;
    this.operator = known.operator;
    this.isAway = known.isAway ?? false;
    this.canSignOut = !known.isProxied;
  }

  async signIn(proof: Proof): Promise<SignedIn> {
    const { address } = requestInfo(this.#req);
    const result =
      'ticket' in proof ? await this.#signIn.byTicket(proof.ticket) : await this.#signIn.byToken(proof.token, address);
    if (result.kind === 'too-many') this.#res.setHeader('Retry-After', String(Math.ceil(result.waitMs / Second)));
    if (result.kind !== 'signed-in') return result;
    await this.#endSession();
    setSessionCookie(this.#req, this.#res, result.session);
    return result;
  }

  async signOut(): Promise<void> {
    await this.#endSession();
    clearSessionCookie(this.#req, this.#res);
  }

  /** Ends the session of the request. */
  async #endSession(): Promise<void> {
    const session = sessionCookieOf(this.#req);
    if (session !== undefined) await this.#signIn.end(session);
  }
}
