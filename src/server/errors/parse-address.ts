/** A digest, and optionally one of its occurrences. */
export interface Address {
  readonly digest: string;
  readonly occurrence?: string;
}

/** A digest and an optional occurrence, each 8 characters of Crockford base32. */
const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}(?:[0-9A-HJKMNP-TV-Z]{8})?$/;

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
  if (!ADDRESS.test(symbols)) return undefined;
  const digest = symbols.slice(0, 8);
  return symbols.length > 8 ? { digest, occurrence: symbols.slice(8) } : { digest };
}
