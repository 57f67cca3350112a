import type { Request } from 'express';
import { HttpError } from '../request/http-error.ts';
import { readBearer } from '../request/request-headers.ts';

/** Who calls the API. Limits count by the id. */
export interface Caller {
  readonly id: string | number;
}

/** How callers authenticate: `bearer()` or `session()`. */
export interface Auth<Who extends Caller = Caller> {
  /** @throws HttpError 401 */
  readonly identify: (request: Request) => Who | Promise<Who>;
  /** The name and the security scheme in the document. */
  readonly name: string;
  readonly scheme: Readonly<Record<string, string>>;
}

type Found<Who> = Who | undefined | Promise<Who | undefined>;

/**
 * Callers send a token: `Authorization: Bearer …`. Without one, or with an unknown one, the response is 401 (RFC 6750).
 *
 * @param lookup finds the caller of a token. Store hashes of tokens, and look up by the hash
 */
export function bearer<Who extends Caller>(lookup: (token: string, request: Request) => Found<Who>): Auth<Who> {
  return {
    name: 'bearer',
    scheme: { type: 'http', scheme: 'bearer' },
    async identify(request) {
      const token = readBearer(request);
      if (token === undefined)
        throw unauthorized('Send a token: "Authorization: Bearer <token>".', 'Bearer realm="api"');
      const caller = await lookup(token, request);
      if (!caller) throw unauthorized('The token is not valid.', 'Bearer realm="api", error="invalid_token"');
      return caller;
    },
  };
}

/**
 * Callers are the visitors who are signed in. Without a session, the response is 401.
 *
 * @param lookup finds the visitor, for example in what a session step added to the request
 * @param cookie the name of the session's cookie, for the document
 */
export function session<Who extends Caller>(lookup: (request: Request) => Found<Who>, cookie = 'session'): Auth<Who> {
  return {
    name: 'session',
    scheme: { type: 'apiKey', in: 'cookie', name: cookie },
    async identify(request) {
      const caller = await lookup(request);
      if (!caller) throw unauthorized('Sign in first.', 'Cookie realm="api"');
      return caller;
    },
  };
}

function unauthorized(message: string, challenge: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': challenge });
}
