// Compares the cost of the wire format with plain JSON: `node bench/wire.mjs`. Shows medians of interleaved rounds.
import { createDecoder, encode } from '../src/shared/engine/wire/wire.ts';

const options = { toError: () => ({ kind: 'failure', status: 500 }) };

function makeRows(makeDate) {
  return Array.from({ length: 330 }, (_, id) => ({
    id,
    title: `Order ${id} of the spring catalogue`,
    customer: `customer-${id}@shop.example`,
    total: id * 13.37,
    paid: id % 3 === 0,
    note: id % 5 === 0 ? null : 'Leave it at the door, please; the bell is broken.',
    when: makeDate(id),
  }));
}

const plain = { data: { home: { rows: makeRows((id) => `2026-01-01T00:00:${id}Z`) } } };
const rich = { data: { home: { rows: makeRows((id) => new Date(1.7e12 + id)) } } };
const mixed = { data: { home: { ...plain.data.home, more: Promise.resolve(1) } } };
const plainText = JSON.stringify(plain);
const plainLine = encode(plain, options).head;
const richLine = encode(rich, options).head;

const cases = {
  'JSON.stringify': () => JSON.stringify(plain),
  'encode, plain JSON': () => encode(plain, options).head,
  'encode, with a promise': () => encode(mixed, options).head,
  'encode, a Date in each row': () => encode(rich, options).head,
  'JSON.parse': () => JSON.parse(plainText),
  'decode, plain JSON': () => createDecoder().head(plainLine),
  'decode, a Date in each row': () => createDecoder().head(richLine),
};

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
for (let round = 0; round < 60; round++) {
  for (const [name, run] of Object.entries(cases)) {
    const start = performance.now();
    for (let i = 0; i < 20; i++) run();
    if (round >= 10) times[name].push((performance.now() - start) / 20);
  }
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const medians = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
console.log(`plain ${plainLine.length} characters, rich ${richLine.length}`);
for (const [name, ms] of Object.entries(medians)) {
  const base =
    medians[
      name.includes('code, ') && name.startsWith('de') ? 'JSON.parse' : name === 'JSON.parse' ? name : 'JSON.stringify'
    ];
  console.log(`${name.padEnd(28)} ${ms.toFixed(3)} ms  ${(ms / base).toFixed(2)}`);
}
