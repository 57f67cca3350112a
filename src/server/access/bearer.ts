import { readBearer } from '../engine/api/auth.ts';
import type { MayRead } from '../engine/monitoring/may-read.ts';
import { requestInfo } from '../engine/request/request-info.ts';
import type { CheckToken } from './check-token.ts';

/** Accepts the token of an operator or viewer. This works without the store, too. */
export function toMayRead(checkToken: CheckToken): MayRead {
  return async function mayRead(req) {
    const token = readBearer(req);
    if (token === undefined) return false;
    const checked = await checkToken(token, requestInfo(req).address);
    return checked.kind === 'too-many' ? { waitMs: checked.waitMs } : checked.kind === 'known';
  };
}
