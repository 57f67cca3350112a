import type { IncomingMessage } from 'node:http';
import type { MayRead } from '../../engine/http/may-read.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import { StoreAwayError } from '../store/sql.ts';
import type { CheckBearer } from './bearer-check.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,500}) *$/i;

/** The token of `Authorization: Bearer`. */
export function readBearer({ headers }: IncomingMessage): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

export interface MayReadOptions {
  readonly check: CheckBearer;
  /** Tells senders apart, without an address. */
  readonly toSender: (address: string) => string;
}

/** Operators and viewers may read, also while the store is away: a right token needs none. */
export function toMayRead({ check, toSender }: MayReadOptions): MayRead {
  return async function mayRead(req) {
    const token = readBearer(req);
    if (token === undefined) return false;
    try {
      const checked = await check(token, toSender(requestInfo(req).address));
      return checked.kind === 'too-many' ? { waitMs: checked.waitMs } : checked.kind === 'known';
    } catch (error) {
      if (error instanceof StoreAwayError) return false; // a wrong one, which could not be counted
      throw error;
    }
  };
}
