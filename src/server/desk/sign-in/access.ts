import type { IncomingMessage, ServerResponse } from 'node:http';
import { Second } from '../../../shared/units.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import { StoreAwayError } from '../store/sql.ts';
import { type ProxySignIn, readProxyOperator } from './proxy-operator.ts';
import { clearSessionCookie, readSessionCookie, setSessionCookie } from './session-cookie.ts';
import type { Operator, SignedIn, SignIn } from './sign-in.ts';

/** Who asks, for one request, and how they may become somebody. */
export interface Access {
  /** Undefined for who is not signed in. */
  readonly operator: Operator | undefined;
  /** Whether nobody can be known, because the store is away. */
  readonly isAway: boolean;
  /** False for whom a proxy signs in, each time anew. */
  readonly canSignOut: boolean;
  /** @throws StoreAwayError */
  signIn(proof: Proof): Promise<SignedIn>;
  signOut(): Promise<void>;
}

export type Proof = { readonly token: string } | { readonly ticket: string };

export interface AccessOptions {
  readonly signIn: SignIn;
  readonly proxy: ProxySignIn | undefined;
  /** Tells senders apart, without an address. */
  readonly toSender: (address: string) => string;
}

export type ReadAccess = (req: IncomingMessage, res: ServerResponse) => Promise<Access>;

export function createReadAccess(options: AccessOptions): ReadAccess {
  return async function readAccess(req, res) {
    const proxied = options.proxy && readProxyOperator(req, options.proxy);
    if (proxied) return new RequestAccess(options, req, res, { operator: proxied, isProxied: true });
    try {
      const operator = await options.signIn.identify(readSessionCookie(req) ?? '');
      return new RequestAccess(options, req, res, { operator });
    } catch (error) {
      if (!(error instanceof StoreAwayError)) throw error;
      return new RequestAccess(options, req, res, { isAway: true });
    }
  };
}

class RequestAccess implements Access {
  readonly operator: Operator | undefined;
  readonly isAway: boolean;
  readonly canSignOut: boolean;
  readonly #options: AccessOptions;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;

  constructor(
    options: AccessOptions,
    req: IncomingMessage,
    res: ServerResponse,
    known: { operator?: Operator | undefined; isAway?: boolean; isProxied?: boolean },
  ) {
    this.#options = options;
    this.#req = req;
    this.#res = res;
    this.operator = known.operator;
    this.isAway = known.isAway ?? false;
    this.canSignOut = !known.isProxied;
  }

  async signIn(proof: Proof): Promise<SignedIn> {
    const { signIn, toSender } = this.#options;
    const sender = toSender(requestInfo(this.#req).address);
    const result = 'ticket' in proof ? await signIn.byTicket(proof.ticket) : await signIn.byToken(proof.token, sender);
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

  /** The session that came with the request. */
  async #endSession(): Promise<void> {
    const session = readSessionCookie(this.#req);
    if (session !== undefined) await this.#options.signIn.end(session);
  }
}
