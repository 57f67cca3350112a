/** The shape of a JSON text, measured before the parsed value is used. */
interface JsonShape {
  /** The deepest nesting of objects and arrays. */
  readonly depth: number;
  /** Upper bound of the number of keys, values and members. */
  readonly nodes: number;
  /** Number of members of all objects together, counting duplicate keys. */
  readonly members: number;
  /** True if a number has so many digits, or an exponent, that its value can differ from its text. */
  readonly hasOddNumber: boolean;
}

/** Measures without recursion, and without checking that the text is valid JSON. */
export function measureJson(json: Uint8Array): JsonShape {
  let depth = 0;
  let deepest = 0;
  let nodes = 1;
  let members = 0;
  let digits = 0;
  let hasOddNumber = false;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inText = false;
      continue;
    }
    if (byte >= ZERO && byte <= NINE) {
      digits += 1;
      if (digits > MOST_SAFE_DIGITS) hasOddNumber = true;
      continue;
    }
    if (digits > 0 && (byte === LOWER_E || byte === UPPER_E)) hasOddNumber = true;
    digits = 0;
    if (byte === QUOTE) {
      inText = true;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth += 1;
      nodes += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth -= 1;
    } else if (byte === COMMA) {
      nodes += 1;
    } else if (byte === COLON) {
      nodes += 1;
      members += 1;
    }
  }
  return { depth: deepest, nodes, members, hasOddNumber };
}

/** Whole numbers with up to this many digits are represented exactly. */
const MOST_SAFE_DIGITS = 15;

const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
