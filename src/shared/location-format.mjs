// The format of the table that maps positions in bundles to the source. The build writes it, and digests and the desk
// read it. JavaScript, because the build does not wait for a compiler.

/** The table's file in `dist`. */
export const TABLE_FILE = 'sites.json';

/** Changes with the format. */
export const VERSION = 1;

/** Numbers of one location: path, function, detail, line, flags. */
export const LOCATION_LENGTH = 5;

/** The bits of the flags of a location. */
export const FLAGS = { errorClass: 1, helper: 2, thrown: 4, call: 8 };

/** Where a line of JavaScript ends, for engines and in source maps. */
export const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** Files and functions that throw on behalf of their callers. */
export const HELPER_FILE = /(?:^|\/)(?:tiny-)?(?:invariant|assert|assertions?)\.[cm]?[jt]sx?$/;
export const HELPER_NAME = /^(?:invariant|assert(?:[A-Z]\w*)?)$/;

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Encodes a number as in source maps: base64 digits of five bits, with the sign in the lowest bit of the first.
 *
 * @param {number} value
 */
export function encodeVlq(value) {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

/**
 * Decodes a sequence of such numbers.
 *
 * @param {string} text
 */
export function decodeVlq(text) {
  /** @type {number[]} */
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = DIGITS.indexOf(text.charAt(at));
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}
