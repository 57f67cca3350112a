import { type ApiPart, implement } from '#engine/server';
import { account } from '#product/api/account.ts';
import type { Database } from '../../database/tables.ts';
import { signedIn } from '../signed-in.ts';

export function accountApi(db: Database): ApiPart {
  return implement(account, { getAccount: ({ caller }) => ({ status: 200, body: caller }) }, { auth: signedIn(db) });
}
