import type { IncomingMessage } from 'node:http';
import type { MayRead } from '../../engine/monitoring/may-read.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import type { CheckToken } from './check-token.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,500}) *$/i;

/** Returns the token of `Authorization: Bearer`. */
export function readBearer({ headers }: IncomingMessage): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

/** Accepts the token of an operator or viewer. This works without the store, too. */
export function toMayRead(checkToken: CheckToken): MayRead {
  return async function mayRead(req) {
    const token = readBearer(req);
    if (token === undefined) return false;
    const checked = await checkToken(token, requestInfo(req).address);
    return checked.kind === 'too-many' ? { waitMs: checked.waitMs } : checked.kind === 'known';
  };
}
