import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { toScriptText } from '../../../src/server/errors/escape-html.ts';
import { createDecoder, type DeferredPromise, WireFailure } from '../../../src/shared/wire/decode.ts';
import { type EncodeOptions, encode } from '../../../src/shared/wire/encode.ts';
import { WireError } from '../../../src/shared/wire/format.ts';
import type { PageError } from '../../../src/shared/wire/payload.ts';
import { holdRejections } from '../../../src/shared/wire/plain.ts';

const FAILURE: PageError = { kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' };
const options: EncodeOptions = { toError: () => FAILURE };

/** Encodes, sends and decodes a value. Every promise in it has settled. */
async function sendAcross(value: unknown): Promise<unknown> {
  const { head, deferred } = encode(value, options);
  const decoder = createDecoder();
  const result = decoder.head(head);
  for await (const line of deferred ?? []) decoder.deferred(line);
  expect(decoder.pending).toBe(0);
  return result;
}

async function toLines(deferred: AsyncIterable<string> | undefined): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of deferred ?? []) lines.push(line);
  return lines;
}

const tick = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

const anyText = fc.oneof(
  fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
  fc.string(),
  fc.constantFrom(
    '</script>',
    '<!--<script>',
    '\u2028\u2029',
    '\ud800',
    'x\udc00y',
    '__proto__',
    '\0',
    'x'.repeat(100_000),
  ),
);
const anyKey = fc.oneof(
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'then!', 'd', 'p', '', '0', 'toString'),
);

const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    anyText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 5 }),
  ),
})).value;

const bytes = fc.uint8Array({ maxLength: 40 });
class Late {
  readonly value: unknown;
  readonly failed: boolean;
  constructor(value: unknown, failed: boolean) {
    this.value = value;
    this.failed = failed;
  }
}

const anyRich = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'rich' },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    anyText,
    fc.constant(undefined),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.webUrl().map((href) => new URL(href)),
    bytes,
    bytes.map((list) => list.buffer.slice(list.byteOffset, list.byteOffset + list.byteLength)),
    bytes.map((list) => new DataView(Uint8Array.from(list).buffer)),
    fc.float64Array({ maxLength: 5 }),
    fc.bigInt64Array({ maxLength: 5 }),
    fc.string().map((message) => new RangeError(message)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.sparseArray(tie('value'), { maxLength: 30, maxNumElements: 4 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 5 }),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => new Set(items)),
    fc.tuple(tie('value'), fc.boolean()).map(([value, failed]) => new Late(value, failed)),
  ),
})).value;

/** Copies a structure with changed leaves and `Late` values. Holes in arrays are kept. */
function mapTree(value: unknown, change: (value: unknown) => unknown): unknown {
  const changed = change(value);
  if (changed !== value) return changed;
  if (value instanceof Map) return new Map([...value].map(([k, v]) => [mapTree(k, change), mapTree(v, change)]));
  if (value instanceof Set) return new Set([...value].map((item) => mapTree(item, change)));
  if (Array.isArray(value)) return value.map((item) => mapTree(item, change));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  const copy = {};
  for (const key of Object.keys(value)) {
    const field = mapTree((value as Record<string, unknown>)[key], change);
    Object.defineProperty(copy, key, { value: field, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

function withPromises(value: unknown): unknown {
  return mapTree(value, (item) => {
    if (!(item instanceof Late)) return item;
    if (!item.failed) return Promise.resolve([withPromises(item.value)]); // nested promises are flattened
    const rejected = Promise.reject(new Error('secret'));
    rejected.catch(() => {});
    return rejected;
  });
}

function asExpected(value: unknown): unknown {
  return mapTree(value, (item) => {
    if (item instanceof Error) return new WireFailure(FAILURE);
    if (!(item instanceof Late)) return item;
    return item.failed ? { reason: new WireFailure(FAILURE) } : { value: asExpected([item.value]) };
  });
}

/** Replaces decoded promises with what they settled to, so that both sides can be compared. */
function asReceived(value: unknown): unknown {
  return mapTree(value, (item) => {
    if (!(item instanceof Promise)) return item;
    const { status, value: result, reason } = item as DeferredPromise;
    return status === 'rejected' ? { reason } : { value: asReceived(result) };
  });
}

it('plain JSON is encoded like JSON.stringify', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(encode(value, options)).toEqual({ head: `{"d":${JSON.stringify(value)}}`, deferred: undefined });
    }),
  );
});

describe('rich values', () => {
  it('arrive unchanged, with promises inside promises, and set no prototype below a __proto__ key', async () => {
    await fc.assert(
      fc.asyncProperty(anyRich, async (value) => {
        const received = await sendAcross([withPromises(value)]);
        // Not `toStrictEqual`, which confuses an own `constructor` key with the object's class.
        deepStrictEqual(asReceived(received), asExpected([value]));
      }),
      { numRuns: 300 },
    );
  });

  it('can be embedded in a script block', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const line = encode({ value, extra: undefined }, options).head;
        const text = toScriptText(line);
        expect(text).not.toMatch(/[<\u2028\u2029]/);
        expect(JSON.parse(text)).toEqual(JSON.parse(line));
      }),
    );
  });

  it('sends only the bytes of a view, not its whole buffer', async () => {
    const view = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(await sendAcross(view)).toEqual(new Uint8Array([2, 3]));
    expect(await sendAcross(Buffer.from('secret in a pool').subarray(0, 6))).toEqual(
      new TextEncoder().encode('secret'),
    );
  });

  it('sends only what toError returns for an error', async () => {
    const error = Object.assign(new Error('password is hunter2'), { code: 'E_SECRET' });
    const { head } = encode({ error }, options);
    expect(head).not.toMatch(/hunter2|SECRET|stack/);
    const { error: received } = createDecoder().head(head) as { error: WireFailure };
    expect(received).toBeInstanceOf(WireFailure);
    expect(received.pageError).toEqual(FAILURE);
    expect(received.digest).toBe(FAILURE.digest);
    expect(received.message).not.toContain('hunter2');
  });
});

describe('values that cannot be sent', () => {
  class Row {
    id = 1;
  }
  const cycle: Record<string, unknown> = {};
  cycle.self = [cycle];
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = { deep };

  it.each([
    ['a function', () => 1, /a function/],
    ['a symbol', Symbol('s'), /a symbol/],
    ['a class instance', new Row(), /an instance of Row/],
    ['a regular expression', /x/, /an instance of RegExp/],
    ['a boxed string', new String('x'), /an instance of String/],
  ])('%s is rejected with its path', (_, value, what) => {
    const sent = { data: { home: { rows: [0, 1, 2, { 'the when': value }] } } };
    expect(() => encode(sent, options)).toThrow(WireError);
    expect(() => encode(sent, options)).toThrow(what);
    expect(() => encode(sent, options)).toThrow('data.home.rows[3]["the when"] is ');
  });

  it('a cycle is rejected', () => {
    expect(() => encode({ cycle }, options)).toThrow(/^cycle\.self\[0\] is part of itself/);
  });

  it('too deep nesting is rejected', () => {
    expect(() => encode(deep, options)).toThrow(/more than 1000 levels deep/);
  });

  it('cause no unhandled rejection of other promises', async () => {
    const onUnhandled = vi.fn();
    process.on('unhandledRejection', onUnhandled);
    const fail = () => Promise.reject(new Error('late'));
    const value = { fail: fail(), bad: () => 1, more: new Map([[1, new Set([[fail()]])]]) };
    expect(() => encode(value, options)).toThrow(WireError);
    holdRejections({ deep: [fail()], large: new Set(Array(200_000).keys()), entries: new Map([[fail(), 1]]) });
    await tick(5);
    process.off('unhandledRejection', onUnhandled);
    expect(onUnhandled).not.toHaveBeenCalled();
  });
});

describe('promises', () => {
  it('share an id if they are identical', async () => {
    const one = Promise.resolve(1);
    const outer = Promise.resolve({ one });
    const { deferred } = encode({ a: one, b: one, outer }, options);
    expect(await toLines(deferred)).toHaveLength(2);
    const received = (await sendAcross({ a: one, b: one, outer })) as {
      a: unknown;
      b: unknown;
      outer: DeferredPromise;
    };
    expect(received.a).toBe(received.b);
    expect(((await received.outer) as { one: unknown }).one).toBe(received.a);
  });

  it('inside a value that cannot be sent cost the other values nothing', async () => {
    const inner = tick(1).then(() => 'inner');
    const value = {
      bad: Promise.resolve({ inner, run: () => 1 }),
      other: tick(5).then(() => ({ inner, more: tick(1).then(() => 'more') })),
    };
    const { bad, other } = (await sendAcross(value)) as Record<string, DeferredPromise>;
    await expect(bad).rejects.toEqual(new WireFailure(FAILURE));
    const sent = (await other) as Record<string, DeferredPromise>;
    expect([await sent.inner, await sent.more]).toEqual(['inner', 'more']);
  });

  it('are rejected without a message if toError fails', async () => {
    const broken: EncodeOptions = {
      toError() {
        throw new Error('the disk is full');
      },
    };
    expect(await toLines(encode(Promise.reject(new Error('x')), broken).deferred)).toEqual([
      '[0,1,{"d":{"kind":"failure","status":500}}]',
    ]);
  });

  it('are rejected by abort, including later ones', async () => {
    const inner = new Promise(() => {});
    const { head, deferred } = encode({ a: new Promise(() => {}), b: tick(1).then(() => ({ inner })) }, options);
    const decoder = createDecoder();
    const { a, b } = decoder.head(head) as { a: DeferredPromise; b: DeferredPromise };
    const first = await deferred?.[Symbol.asyncIterator]().next();
    decoder.deferred(String(first?.value));
    const lost = new Error('connection lost');
    const { inner: revived } = (await b) as { inner: DeferredPromise };
    decoder.abort(lost);
    expect(decoder.pending).toBe(0);
    expect([a.status, a.reason, revived.reason]).toEqual(['rejected', lost, lost]);
    await expect(revived).rejects.toBe(lost);
    const after = decoder.head('{"d":9,"p":[["promise",0]]}') as DeferredPromise;
    await expect(after).rejects.toBe(lost);
  });
});

describe('malformed lines', () => {
  it('throw the same clear error wherever a line is cut', () => {
    const line = encode({ a: new Date(0), m: new Map([[1n, undefined]]), u: new Uint8Array(3) }, options).head;
    for (let end = 0; end < line.length; end++) {
      expect(() => createDecoder().head(line.slice(0, end))).toThrow('truncated or is not in the wire format');
    }
  });

  it.each([
    'null',
    '1',
    '[]',
    '{"d":1,"p":1}',
    '{"d":1,"p":[["nonsense",0]]}',
    '{"d":1,"p":[["constructor",0]]}',
    '{"d":{},"p":[["undefined",0,"__proto__","polluted"]]}',
    '{"d":{},"p":[["undefined",0,"constructor","prototype","polluted"]]}',
    '{"d":{},"p":[["undefined",0,"__proto__","toLocaleString"]]}',
    '{"d":{},"p":[["undefined",0,"toLocaleString"]]}',
    '{"d":{},"p":[["undefined",-1,"p"]]}',
    '{"d":"no bigint","p":[["bigint",0]]}',
    '{"d":[-1],"p":[["sparse",0]]}',
  ])('%s', (line) => {
    expect(() => createDecoder().head(line)).toThrow('truncated or is not in the wire format');
    expect({}).not.toHaveProperty('polluted');
    expect({}.toLocaleString).toBeTypeOf('function');
  });

  it.each(['', 'null', '[5,0,{"d":1}]', '[0,2,{"d":1}]', '[0,0]', '[0,1,{"d":"no page error"}]'])(
    'deferred: %s',
    (line) => {
      const decoder = createDecoder();
      decoder.head('{"d":0,"p":[["promise",0]]}');
      expect(() => decoder.deferred(line)).toThrow('truncated or is not in the wire format');
      expect(decoder.pending).toBe(1);
    },
  );

  it('never throw another error for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.jsonValue()), (d, p) => {
        try {
          createDecoder().head(`{"d":${d},"p":${JSON.stringify(p)}}`);
        } catch (error) {
          expect(String(error)).toContain('not in the wire format');
        }
      }),
    );
  });
});
