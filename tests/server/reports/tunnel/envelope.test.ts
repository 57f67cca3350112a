import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createItem, parseEnvelope, serializeEnvelope } from '../../../../src/server/reports/tunnel/envelope.ts';
import { ReportError } from '../../../../src/server/reports/tunnel/report-error.ts';
import { writeEnvelope } from '../../../support/tunnel-site.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const texts = (text: string) => parseEnvelope(bytes(text)).items.map(({ payload }) => Buffer.from(payload).toString());

/** Returns the status of the refusal, or 0. */
function refusal(input: Uint8Array): number {
  try {
    parseEnvelope(input);
    return 0;
  } catch (error) {
    if (error instanceof ReportError) return error.status;
    throw error;
  }
}

describe('parseEnvelope()', () => {
  it('reads items with and without a length', () => {
    expect(
      texts('{}\n{"type":"event"}\n{"a":1}\n{"type":"attachment","length":5}\na\nb\nc\n{"type":"log"}\nrest'),
    ).toEqual(['{"a":1}', 'a\nb\nc', 'rest']);
  });

  it.each([
    ['only a header', '{}', []],
    ['trailing line feeds', '{}\n{"type":"event"}\n{}\n\n\n', ['{}']],
    ['a length of 0 and no payload', '{}\n{"type":"attachment","length":0}', ['']],
    ['a length of 0 and an empty line', '{}\n{"type":"attachment","length":0}\n\n{"type":"log"}\nx', ['', 'x']],
    ['an item that ends after its header', '{}\n{"type":"session"}', ['']],
    ['a carriage return before the line feed', '{}\r\n{"type":"event","length":2}\r\n{}', ['{}']],
    ['an unknown type', '{}\n{"type":"from_2031"}\nx', ['x']],
  ])('accepts %s', (_name, text, payloads) => {
    expect(texts(text)).toEqual(payloads);
  });

  it.each([
    ['nothing', '', 400],
    ['invalid JSON', 'hello', 400],
    ['a header that is a list', '[]', 400],
    ['a header that is null', 'null', 400],
    ['a header that is a number', '12', 400],
    ['an item without a type', '{}\n{}\nx', 400],
    ['a type that is a number', '{}\n{"type":1}\nx', 400],
    ['a type with a line feed', '{}\n{"type":"event\\nx"}\nx', 400],
    ['a type of 65 letters', `{}\n{"type":"${'a'.repeat(65)}"}\nx`, 400],
    ['a length beyond the end', '{}\n{"type":"event","length":3}\n{}', 400],
    ['a length before the end of the line', '{}\n{"type":"event","length":1}\n{}', 400],
    ['a length of 4 GB', '{}\n{"type":"attachment","length":4294967296}\nx', 400],
    ['a length below 0', '{}\n{"type":"event","length":-1}\n{}', 400],
    ['a length that is not an integer', '{}\n{"type":"event","length":1.5}\n{}', 400],
    ['a length that is spelled out', '{}\n{"type":"event","length":"2"}\n{}', 400],
    ['a length that is null', '{}\n{"type":"event","length":null}\n{}', 400],
    ['a length of 1e400', '{}\n{"type":"event","length":1e400}\n{}', 400],
    ['a byte order mark', '\uFEFF{}', 400],
    ['101 items', `{}${'\n{"type":"log"}\nx'.repeat(101)}`, 413],
    ['a header of 20 kB', `{"a":"${'x'.repeat(20_000)}"}`, 413],
    ['an item header of 20 kB', `{}\n{"type":"log","a":"${'x'.repeat(20_000)}"}\nx`, 413],
    ['a header nested 100 deep', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 400],
  ])('rejects %s', (_name, text, status) => {
    expect(refusal(bytes(text))).toBe(status);
  });

  it('rejects text that is not UTF-8', () => {
    expect(refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBe(400);
    expect(refusal(Buffer.concat([bytes('{}\n{"type":"attachment","length":2}\n'), Buffer.from([0xff, 0xfe])]))).toBe(
      0,
    );
  });

  it('drops keys that reach a prototype', () => {
    const { headers } = parseEnvelope(bytes('{"__proto__":{"x":1},"\\u005f_proto__":{"x":1},"constructor":1,"a":2}'));
    expect(Object.keys(headers)).toEqual(['a']);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });

  it('returns views instead of copies', () => {
    const input = writeEnvelope({}, [{ type: 'attachment', length: 3 }, 'abc']);
    expect(parseEnvelope(input).items[0]?.payload.buffer).toBe(input.buffer);
  });

  it('serializes to the same bytes that it parsed', () => {
    const item = fc.record({
      type: fc.constantFrom('event', 'attachment', 'replay_recording', 'from_2031'),
      payload: fc.uint8Array({ maxLength: 200 }),
      framed: fc.boolean(),
      extra: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 2 })),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.array(item, { maxLength: 8 }), (headers, items) => {
        const written = writeEnvelope(
          headers,
          ...items.map(({ type, payload, framed, extra }) => {
            const { type: _t, length: _l, ...rest } = extra;
            if (framed) return [{ ...rest, type, length: payload.length }, payload] as const;
            return [{ ...rest, type }, payload.map((byte) => (byte === 10 ? 32 : byte))] as const;
          }),
        );
        const envelope = parseEnvelope(written);
        expect(envelope.items.map(({ type }) => type)).toEqual(items.map(({ type }) => type));
        const reaching = ['__proto__', 'constructor', 'prototype'];
        if (!reaching.some((key) => Object.hasOwn(headers, key))) {
          expect(Buffer.from(serializeEnvelope(envelope)).equals(written)).toBe(true);
        }
      }),
    );
  });

  it('throws only EnvelopeError for mutated input', () => {
    const sound = writeEnvelope(
      { dsn: 'https://spillway@shop.example/1', sent_at: '2026-01-01T00:00:00Z' },
      [{ type: 'event' }, { message: 'a' }],
      [{ type: 'attachment', length: 4 }, 'a\nb\n'],
    );
    const mutation = fc.record({ at: fc.nat(sound.length), remove: fc.nat(12), put: fc.uint8Array({ maxLength: 12 }) });
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
        let mutant: Uint8Array = sound;
        for (const { at, remove, put } of mutations) {
          mutant = Buffer.concat([mutant.subarray(0, at), put, mutant.subarray(at + remove)]);
        }
        expect([0, 400, 413]).toContain(refusal(mutant));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => void refusal(noise)),
      { numRuns: 1000 },
    );
  });
});

describe('createItem()', () => {
  it('sets the length of its payload in bytes', () => {
    const item = createItem({ type: 'event', length: 1, content_type: 'application/json' }, { message: 'ü' });
    expect(item.headers).toEqual({ type: 'event', length: 16, content_type: 'application/json' });
    expect(parseEnvelope(serializeEnvelope({ headers: {}, items: [item] })).items[0]?.payload).toHaveLength(16);
  });
});
