import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../src/server/request/http-error.ts';
import { parseJson } from '../../../src/server/request/parse-body.ts';

function read(text: string | Buffer, nodes?: number): unknown {
  return parseJson(Buffer.from(text as string), nodes);
}

function refusal(text: string | Buffer, nodes?: number): [status: number, words: string] {
  try {
    return [200, JSON.stringify(read(text, nodes))];
  } catch (error) {
    if (error instanceof HttpError) return [error.status, error.message];
    throw error;
  }
}

describe('the parsed value', () => {
  it('equals that of JSON.parse for every accepted input', () => {
    const isKept = (value: unknown) => typeof value === 'object' && value !== null;
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8 }).filter((text) => isKept(JSON.parse(text))),
        (text) => {
          const [status, answer] = refusal(text);
          if (status === 200) expect(answer).toBe(JSON.stringify(JSON.parse(text, dropProto)));
          else expect(answer).toMatch(/number|character/);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    '{"a":0e5}',
    '{"a":1.5e3}',
    '{"a":-0}',
    '{"a":9007199254740991}',
    '{"a":-9007199254740991}',
    '{"a":0.1234567890123456789}',
    '{"a":"12345678901234567890 1e400"}',
    '{"a":"\\ud83d\\ude00"}',
    '\ufeff{"a":1}',
    ' \n[] ',
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '{"":1,"\\"":2,"a:b,{":3}',
    `${'['.repeat(32)}${']'.repeat(32)}`,
  ])('%j', (text) => {
    expect(read(text)).toEqual(JSON.parse(text.replace('\ufeff', '')));
  });

  it('has no key that sets a prototype, at any depth and in any spelling', () => {
    const text = '{"__proto__":{"a":1},"b":[{"\\u005f_proto__":{"a":1}}],"c":{"constructor":{"prototype":{"a":1}}}}';
    const value = read(text);
    expect(JSON.stringify(value)).toBe('{"b":[{}],"c":{"constructor":{"prototype":{"a":1}}}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

it.each<[words: string, ...texts: (string | Buffer)[]]>([
  ['no body', '', ' \r\n\t ', '\ufeff'],
  ['neither', '1', '"text"', 'null'],
  [
    'not valid JSON',
    ...['{"a":1', '{"a":1}{}', '{"a":NaN}', '{"a":01}', "{'a':1}", '{"a":1e}', '{"a":"\u0000"}', '\ufeff\ufeff{}'],
    Buffer.from('{"a":1}', 'utf16le'),
  ],
  ['duplicate key', '{"a":1,"a":1}', '[{"b":[{"a":1,"\\u0061":2}]}]', '{"__proto__":1,"\\u005f_proto__":2}'],
  [
    'number',
    ...['{"a":1e400}', '{"a":-1e400}', '{"a":1e-400}', '[9007199254740992]', '{"a":12345678901234567890}'],
    ...[`[${'9'.repeat(90_000)}]`, `[0.${'0'.repeat(400)}1]`],
  ],
  ['half', '["\\ud800"]', '{"\\udc00":1}', '["\\ude00\\ud83d"]'],
  ['deeply', `${'['.repeat(33)}${']'.repeat(33)}`, ...['[', '{"a":', '[{"a":'].map((part) => part.repeat(100_000))],
  [
    'UTF-8',
    ...['{"a":"\xff"}', '{"a":"\xc0\xaf"}', '{"a":"\xed\xa0\x80"}'].map((text) => Buffer.from(text, 'latin1')),
    Buffer.from('\ufeff{"a":1}', 'utf16le'),
    Buffer.from('\ufeff{"a":1}', 'utf16le').swap16(),
  ],
])('a body is rejected, and told why: %s', (words, ...texts) => {
  for (const text of texts) {
    const shown = String(text).slice(0, 40);
    expect([shown, ...refusal(text)]).toEqual([shown, 400, expect.stringContaining(words)]);
  }
});

it('a body is rejected: too many members, before creating them', () => {
  expect(refusal(`[${'1,'.repeat(50_000)}1]`)).toEqual([413, 'The JSON has more than 50000 parts.']);
  expect(refusal('[1,2,3]', 3)).toEqual([413, 'The JSON has more than 3 parts.']);
  expect(refusal(`[${'1,'.repeat(60_000)}1]`, 100_000)[0]).toBe(200);
});

function dropProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
