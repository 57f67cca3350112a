/** Crockford's base32: no I, L, O and U (https://www.crockford.com/base32.html). */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

/** Whether a text is the address of a failure: `7K3QM2XA-9F4W0R6B`. */
export function isAddress(text: unknown): text is string {
  return typeof text === 'string' && ADDRESS.test(text);
}

/** A digest, and optionally one of its occurrences. */
export interface Address {
  readonly digest: string;
  readonly occurrence?: string;
}

/** `7K3QM2XA-9F4W0R6B` */
export function toAddress({ digest, occurrence }: Required<Address>): string {
  return `${digest}-${occurrence}`;
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

/**
 * Returns the second half of an address: the last 40 bits of the event id.
 *
 * @param eventId 32 hexadecimal digits
 */
export function toOccurrence(eventId: string): string {
  return toCrockford(eventId.slice(-10));
}

/**
 * Returns eight characters that can be read aloud over the phone.
 *
 * @param hex 10 hexadecimal digits: a number holds 40 bits without loss
 */
export function toCrockford(hex: string): string {
  let bits = Number.parseInt(hex, 16);
  let text = '';
  for (let digit = 0; digit < 8; digit++) {
    text = DIGITS.charAt(bits % 32) + text;
    bits = Math.floor(bits / 32);
  }
  return text;
}
