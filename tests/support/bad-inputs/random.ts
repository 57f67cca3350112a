/** Returns numbers from 0 to 1, the same sequence for the same seed (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** Changes, removes, doubles or inserts a few bytes. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let mutant = Buffer.from(bytes);
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times; time += 1) {
    const at = Math.floor(random() * (mutant.length + 1));
    const end = Math.min(mutant.length, at + Math.floor(random() * 12));
    const [before, part, after] = [mutant.subarray(0, at), mutant.subarray(at, end), mutant.subarray(end)];
    const inserted = pick(random, [
      Buffer.alloc(0),
      Buffer.concat([part, part]),
      Buffer.from([Math.floor(random() * 256)]),
      Buffer.from(pick(random, SPLINTERS), 'latin1'),
    ]);
    mutant = Buffer.concat([before, inserted, after]);
  }
  return mutant;
}

/** Pieces of text that parsers treat specially. */
const SPLINTERS = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '=',
    '&',
    '?',
    '#',
    '%',
    '%00',
    '%0d%0a',
    '/',
    '//',
    '\\',
    '..',
  ],
  ...['{', '}', '[', ']', '"', '\\u', '\\', '-', '0', '9'.repeat(20), '1e400', 'null', '\xff', '\xc3', '\xed\xa0\x80'],
  ...['\r\n\r\n', '\r\nHost: b', '\r\nContent-Length: 9', '\r\nTransfer-Encoding: chunked', '0\r\n\r\n', '__proto__'],
];
