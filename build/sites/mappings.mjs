const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS = new Uint8Array(128);
for (let index = 0; index < ALPHABET.length; index += 1) DIGITS[ALPHABET.charCodeAt(index)] = index;

const COMMA = ','.charCodeAt(0);
const SEMICOLON = ';'.charCodeAt(0);

/**
 * Reads the `mappings` of a source map (ECMA-426) segment by segment, without an array: the server's bundle has several
 * hundred thousand.
 *
 * @param {string} mappings
 * @param {(line: number, column: number, source: number, originalLine: number, originalColumn: number) => void} take
 * all counted from 0; `source` is -1 for a segment without a source
 */
export function readMappings(mappings, take) {
  let line = 0;
  let column = 0;
  let source = 0;
  let originalLine = 0;
  let originalColumn = 0;
  let at = 0;

  function readNumber() {
    let value = 0;
    let shift = 0;
    let digit;
    do {
      digit = DIGITS[mappings.charCodeAt(at++)];
      value += (digit & 31) << shift;
      shift += 5;
    } while (digit & 32);
    return value & 1 ? -(value >> 1) : value >> 1;
  }

  function endsHere() {
    const code = mappings.charCodeAt(at);
    return at >= mappings.length || code === COMMA || code === SEMICOLON;
  }

  while (at < mappings.length) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON) {
      line += 1;
      column = 0;
      at += 1;
    } else if (code === COMMA) {
      at += 1;
    } else {
      column += readNumber();
      if (endsHere()) {
        take(line, column, -1, 0, 0);
        continue;
      }
      source += readNumber();
      originalLine += readNumber();
      originalColumn += readNumber();
      if (!endsHere()) readNumber(); // the name
      take(line, column, source, originalLine, originalColumn);
    }
  }
}

/**
 * @param {number} value
 * @returns {string} the number as in source maps
 */
export function toVlq(value) {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += ALPHABET[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
