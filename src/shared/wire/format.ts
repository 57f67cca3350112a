/**
 * The format of all values sent to the browser, in the document and as page data.
 *
 * A value is one *frame*. Plain JSON is `{"d":<value>}`, written and read by the JSON built-ins without a replacer or a
 * reviver, which would cost several times as much (react/react#35776). For other types, `d` has JSON stand-ins, and `p`
 * lists their meaning:
 *
 *     {"d":{"rows":[{"when":0}],"late":1},"p":[["date",0,"rows",0,"when"],["promise",0,"late"]]}
 *
 * A patch is `[type, keep, ...segments]`. Its path is the first `keep` segments of the previous patch, followed by
 * `segments`. Inner patches precede outer ones, so a path always leads through stand-ins.
 *
 * Each promise has an id. The first line is a frame, the head. Each promise that settles adds a line: `[id,0,<frame>]`,
 * or `[id,1,<frame of a PageError>]` if it was rejected. The id of a hole is its path, so that lines of `encodeHoles` fit
 * every head of the same page.
 */
export interface Frame {
  d: unknown;
  p?: readonly Patch[];
}

export type Segment = string | number;
/** A hole's is its path. */
export type Id = string | number;
export type Patch = readonly [type: string, keep: number, ...segments: Segment[]];
export type Fields = Record<string, unknown>;

/** Keys and indexes from the encoded value to one inside it. */
export type Path = readonly Segment[];

export const VIEWS: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
};

/** Writes a path as in code: `data.cart.items[0]`. */
export function toPathText(path: Path): string {
  const text = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[\w$@-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return text.join('').replace(/^\./, '') || 'The value itself';
}

/**
 * Thrown if the data of a loader or an action cannot be sent. The message has its path and what to do. It has no frames,
 * because all are of the code that encodes, and all such failures would have one digest.
 */
export class WireError extends TypeError {
  override readonly name = 'WireError';

  constructor(message: string) {
    super(message);
    this.stack = `WireError: ${message}`;
  }
}
