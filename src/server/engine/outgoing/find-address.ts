import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createNetworks, isSpecialAddress, toNetwork } from './special-addresses.ts';

/** An address that a connection is allowed to. */
export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Thrown when a target resolves to a forbidden address. The message says what to do. */
export class ForbiddenTargetError extends Error {
  constructor(host: string) {
    super(
      `${host} resolves to an address that is not public. To allow it, list it in NOTIFY_PRIVATE_TARGETS and restart.`,
    );
    this.name = 'ForbiddenTargetError';
  }
}

export interface AddressFinder {
  /**
   * Looks a host up and returns only allowed addresses. Connect to one of these, because the name can resolve to
   * another address the next time.
   *
   * @param host a name or an address; IPv6 without brackets
   * @throws ForbiddenTargetError
   */
  find(host: string): Promise<readonly CheckedAddress[]>;
  /** Whether the settings allow this host explicitly. Such a host is within the private network. */
  isListed(host: string): boolean;
}

export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

/** @param listed names, addresses and networks that are allowed although they are not public */
export function createAddressFinder(
  listed: readonly string[],
  resolve: Lookup = (host) => lookup(host, { all: true }),
): AddressFinder {
  const names = new Set(listed.filter((item) => !toNetwork(item)).map((item) => item.toLowerCase()));
  const isListedAddress = createNetworks(listed);
  const isListed = (host: string) => names.has(host.toLowerCase().replace(/\.$/, ''));
  return {
    isListed: (host) => isListed(host) || (isIP(host) > 0 && isListedAddress(host)),
    async find(host) {
      const found = isIP(host) > 0 ? [{ address: host }] : await resolve(host);
      const allowed = found.filter(
        ({ address }) => isListed(host) || !isSpecialAddress(address) || isListedAddress(address),
      );
      if (allowed.length === 0) throw new ForbiddenTargetError(host);
      return allowed.map(({ address }) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
    },
  };
}
