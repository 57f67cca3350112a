import { isAddress } from '../../shared/reporting/address.ts';

/** A digest, and optionally one of its occurrences. */
export interface Address {
  readonly digest: string;
  readonly occurrence?: string;
}

/**
 * Parses an address typed from a screenshot or dictated over the phone. Ignores case, hyphens and spaces, and reads I
 * and L as 1, and O as 0.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > 64) return undefined;
  const symbols = text
    .toUpperCase()
    .replace(/[-\s/]/g, '')
    .replace(/[IL]/g, '1')
    .replaceAll('O', '0');
  const [digest, occurrence] = [symbols.slice(0, 8), symbols.slice(8)];
  if (!isAddress(`${digest}-${occurrence || digest}`)) return undefined;
  return occurrence ? { digest, occurrence } : { digest };
}
