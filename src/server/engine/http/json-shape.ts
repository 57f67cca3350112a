/** How a JSON text is built, known before anybody walks what is parsed from it. */
export interface JsonShape {
  /** The deepest nesting of objects and arrays. */
  readonly depth: number;
  /** At most how many keys, values and members there are. */
  readonly nodes: number;
}

/** Reads the shape without recursion and without regard to whether the rest is JSON. */
export function measureJson(json: Uint8Array): JsonShape {
  let depth = 0;
  let deepest = 0;
  let nodes = 1;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      inText = true;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth += 1;
      nodes += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth -= 1;
    } else if (byte === COMMA || byte === COLON) {
      nodes += 1;
    }
  }
  return { depth: deepest, nodes };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
