import { createHmac, randomBytes } from 'node:crypto';
import { Day } from '../../../shared/units.ts';
import { toSender } from './token-buckets.ts';

/**
 * Tells visitors apart within a day without keeping their addresses: a hash with a salt that is
 * forgotten each day. Each process has a salt of its own, so that replicas do not know of each other.
 */
export function createVisitors({ now = Date.now } = {}): (address: string) => string {
  let day = -1;
  let salt = randomBytes(32);
  return (address) => {
    const today = Math.floor(now() / Day);
    if (today !== day) {
      day = today;
      salt = randomBytes(32);
    }
    return createHmac('sha256', salt).update(toSender(address)).digest('base64url').slice(0, 16);
  };
}
