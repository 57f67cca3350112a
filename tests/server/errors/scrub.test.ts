import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import { MAX_SCRUBBED_LENGTH } from '../../../src/server/limits.ts';

const scrubber = createScrubber();
const card = '4111 1111 1111 1111';
const jwt = `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`;
// Built at run time, so that secret scanners do not mistake them for real keys.
const githubKey = `ghp_${'a1B2'.repeat(9)}`;
const stripeKey = `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`;
const slackKey = `xoxb-${'123456789012-abcdefABCDEF'}`;
const awsKey = `AKIA${'IOSFODNN7EXAMPLE'}`;
const otherKeys = [
  `hf_${'a1B2'.repeat(9)}`,
  `shpat_${'a1b2'.repeat(8)}`,
  `dop_v1_${'a1b2'.repeat(16)}`,
  `hvs.${'a1B2'.repeat(6)}`,
  `pypi-${'AgEIcHlwaS5vcmc'}${'a1B2'.repeat(9)}`,
  `GOCSPX-${'a1B2'.repeat(7)}`,
  `lin_api_${'a1B2'.repeat(10)}`,
  `sbp_${'a1b2'.repeat(10)}`,
  `AGE-SECRET-KEY-1${'A1B2'.repeat(14)}`,
];
const passwordHashes = [
  `$2b$12$${'R9h/cIPz0gi.URNNX3kh2O'.repeat(2)}`,
  `$argon2id$v=19$m=65536,t=3,p=4$${'c29tZXNhbHQ$RdescudvJCsgt3ub+b4d'}`,
  `${'a1b2'.repeat(8)}:${'c3d4'.repeat(32)}`,
];

describe('text', () => {
  it.each([
    ['GET /x failed with Bearer abc.DEF-123', 'GET /x failed with Bearer [redacted]'],
    ['authorization: Basic dXNlcjpwYXNz', 'authorization: [redacted]'],
    ['Sent Basic dXNlcjpwYXNz twice', 'Sent Basic [redacted] twice'],
    ['connect postgres://app:hunter2@db:5432/shop', 'connect postgres://[redacted]@db:5432/shop'],
    ['connect postgres://app:a/b@c@db:5432/shop', 'connect postgres://[redacted]@db:5432/shop'],
    ['GET https://user:pass@api.example/x?y=1', 'GET https://[redacted]@api.example/x?y=1'],
    [`token was ${jwt}, sorry`, 'token was [redacted], sorry'],
    [`a.b-${jwt}.4.5.6`, 'a.b-[redacted].6'],
    [`${jwt}. ${jwt}`, '[redacted] [redacted]'],
    [`paid with ${card}.`, 'paid with [redacted].'],
    [`paid in 2026 ${card} 5 times`, 'paid in 2026 [redacted] 5 times'],
    ['paid with 4111111111111111', 'paid with [redacted]'],
    [`${githubKey} ${stripeKey}`, '[redacted] [redacted]'],
    [`${slackKey},${awsKey}`, '[redacted],[redacted]'],
    [otherKeys.join(' '), otherKeys.map(() => '[redacted]').join(' ')],
    [passwordHashes.join(', '), '[redacted], [redacted] [redacted]'],
    [`https://api.telegram.org/bot123456789:${'AAHd'.repeat(9)}/sendMessage`, 'https://[redacted]/sendMessage'],
    [
      `POST https://discord.com/api/webhooks/123456789012345678/${'a-B2'.repeat(17)} 404`,
      'POST https://[redacted] 404',
    ],
    [`AccountName=x;AccountKey=${'a1B2'.repeat(21)}==;EndpointSuffix=y`, 'AccountName=x;[redacted];EndpointSuffix=y'],
    ['Failed query: select $1\nparams: a,x1y2\nb', 'Failed query: select $1\nparams: [redacted]'],
    [
      "INSERT INTO users (a, password) VALUES ('it''s', 1, 'x\\'1') RETURNING id",
      "INSERT INTO users (a, password) VALUES ('[redacted]', 1, '[redacted]') RETURNING id",
    ],
    ['no such user: ann.smith+x@example.co.uk', 'no such user: [redacted]'],
    ['{"user":"ann","password":"a\\"b c"}', '{"user":"ann","password":"[redacted]"}'],
    ['body "{\\"password\\":\\"a b\\",\\"x\\":1}"', 'body "{\\"password\\":\\"[redacted]\\",\\"x\\":1}"'],
    ["{ apiKey: 'a b', n: 1 }", "{ apiKey: '[redacted]', n: 1 }"],
    ['Map { "secret" => "x y" }', 'Map { "secret" => "[redacted]" }'],
    ['{"tokens":["a]b","c"],"n":1}', '{"tokens":[redacted],"n":1}'],
    ['"{\\"password\\":{\\"value\\":\\"a}b\\"}} x"', '"{\\"password\\":[redacted]} x"'],
    ["{ cookies: [ 'a b', { c: 'd' } ], n: 1 }", '{ cookies: [redacted], n: 1 }'],
    ['{"session":{"id":"a that was cut', '{"session":[redacted]'],
    ['password: correcthorse', 'password: [redacted]'],
    ['user[password]=a%20b&user[name]=ann', 'user[password]=[redacted]&user[name]=ann'],
    ['Cookie: a=b; c=d\nHost: x', 'Cookie: [redacted]\nHost: x'],
    ['set-cookie=abc; Path=/', 'set-cookie=[redacted]; Path=/'],
    ['at /callback?code=4/0AX&state=open', 'at /callback?code=[redacted]&state=open'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----!', '[redacted]!'],
    ['-----BEGIN PRIVATE KEY-----\nabc that was cut', '[redacted]'],
  ])('redacts the secret in %j', (text, expected) => {
    expect(scrubber.text(text)).toBe(expected);
    expect(scrubber.text(expected)).toBe(expected);
  });

  it.each([
    "Cannot read properties of undefined (reading 'total')",
    'Unexpected token: punc',
    'eyJ-eyJ-eyJhbGciOiJIUzI1NiJ9 eyJa.b',
    'Unexpected token < in JSON at position 0',
    'Bearer authentication failed.',
    'Basic authentication failed',
    'connect ECONNREFUSED 10.0.0.1:5432',
    '{"code":"ENOENT","key":"orders"}',
    'order 4111 1111 1111 1112 is late',
    'at 1732212345678 and 2500000000008, id 3f2b9c1e-1111-4222-8333-abcdefabcdef',
    'file:///app/node_modules/@scope/pkg/index.js?v=3#x',
    'GET https://cdn.example/react-dom@19.3.1/logo@2x.png',
    'render@https://example.com/assets/home-X7K2QM2X.js:1:2',
    "Query 'insert into t (a) values (?)' failed: no such column: 'a'",
    'No author, no shipping, keyboard: qwerty',
  ])('does not change %j', (text) => {
    expect(scrubber.text(text)).toBe(text);
  });

  it('finds configured secrets: plain, encoded, and in JSON', () => {
    const known = scrubber.with(['pa/ss "w" ord', 'short']);
    expect(known.text('a pa/ss "w" ord short')).toBe('a [redacted] short');
    expect(known.text(`q=${encodeURIComponent('pa/ss "w" ord')}`)).toBe('q=[redacted]');
    expect(known.text(JSON.stringify({ a: 'pa/ss "w" ord' }))).toBe('{"a":"[redacted]"}');
  });

  it('leaves no rest of a longer value that starts with a shorter one', () => {
    expect(scrubber.with(['hunter22', 'hunter22-long']).text('hunter22-long')).toBe('[redacted]');
    expect(scrubber.with(['hunter22-long']).with(['hunter22']).text('hunter22-long')).toBe('[redacted]');
  });

  it('redacts the secrets of one request, without adding them for other requests', () => {
    const own = scrubber.with(['session-of-ann', 'redacted']);
    expect(own.text('No row for session-of-ann')).toBe('No row for [redacted]');
    expect(own.text('[redacted]')).toBe('[redacted]');
    expect(scrubber.text('No row for session-of-ann')).toBe('No row for session-of-ann');
  });

  it('redacts a long value as far as it is there', () => {
    const own = scrubber.forReport([`${'a1'.repeat(50)}-one`, `${'a1'.repeat(50)}-two`]);
    expect(own.text(`x ${'a1'.repeat(50)}-two y`)).toBe('x [redacted] y');
    expect(own.text(`x ${'a1'.repeat(45)}… y`)).toBe('x [redacted]… y');
    expect(own.text(`x ${'a1'.repeat(20)} y`)).toBe(`x ${'a1'.repeat(20)} y`);
  });

  it('has a budget for one report, in long texts and in short ones', () => {
    for (const [length, most] of [
      [10, 1500],
      [10_000, 14],
    ] as const) {
      const own = scrubber.forReport([]);
      const toText = (index: number) => `${index} `.padEnd(length, 'x');
      const texts = Array.from({ length: 2 * most }, (_, index) => own.text(toText(index)));
      expect(texts.slice(0, most * 0.9)).not.toContain('[cut]');
      expect(new Set(texts.slice(most))).toEqual(new Set(['[cut]']));
      expect(own.text(toText(0)), 'a text that it has scrubbed before').toBe(toText(0));
    }
    expect(scrubber.text('y'.repeat(100))).toBe('y'.repeat(100));
    const fields = Object.fromEntries(Array.from({ length: 4800 }, (_, index) => [`field${index}`, index]));
    expect(Object.keys(scrubber.forReport([]).value(fields) as object).length).toBeLessThan(1002);
  });

  it('uses the names and patterns of the product', () => {
    const own = createScrubber({ keys: ['patient_id', 'Pin'], patterns: [/KD-\d{4}/g] });
    expect(own.text('patientId=77&pin=1234&shipping=4 KD-1234 KD-5678')).toBe(
      'patientId=[redacted]&pin=[redacted]&shipping=4 [redacted] [redacted]',
    );
  });

  const wrappers: readonly ((secret: string) => string)[] = [
    (secret) => `password=${secret}`,
    (secret) => `{"accessToken":"${secret}"}`,
    (secret) => `/x?next=${encodeURIComponent(`/y?token=${secret}`)}`,
    (secret) => `redis://:${secret}@host`,
    (secret) => `Authorization: Bearer ${secret}`,
    (secret) => `Set-Cookie: id=${secret}; HttpOnly`,
    (secret) => `-----BEGIN PRIVATE KEY-----${secret}-----END PRIVATE KEY-----`,
  ];
  const secrets = fc.stringMatching(/^[A-Za-z0-9]{5}[0-9][A-Za-z0-9_-]{5,20}$/);

  it('contains no inserted secret, with any text around it', () => {
    fc.assert(
      fc.property(secrets, fc.constantFrom(...wrappers), fc.string(), fc.string(), (secret, wrap, before, after) => {
        const text = `${before} ${wrap(secret)} ${after}`;
        fc.pre(!before.includes(secret) && !after.includes(secret));
        expect(scrubber.url(text)).not.toContain(secret);
        expect(JSON.stringify(scrubber.value({ a: [text] }))).not.toContain(secret);
      }),
      { numRuns: 500 },
    );
  });

  it('is stable: scrubbing again changes nothing', () => {
    const parts = fc.constantFrom(card, ' ', ...`password token = : " ' \\ & ? // @ a.de [ ] cookie Bearer`.split(' '));
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), (words) => {
        const once = scrubber.text(words.join(''));
        expect(scrubber.text(once)).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    'a',
    '1',
    'a.',
    'a@',
    '4 ',
    'a:',
    'eyJ',
    'Bearer ',
    '?a',
    'a=',
    '-----BEGIN PRIVATE KEY-----',
    'http://',
    'pg://a:',
    'password="',
    '\\',
    '"',
    '%40',
    'token:',
  ])('takes no longer for a megabyte of %j than for a page', (part) => {
    const text = part.repeat(Math.ceil(2 ** 20 / part.length));
    const before = process.threadCpuUsage();
    scrubber.url(text);
    scrubber.url(text.slice(0, MAX_SCRUBBED_LENGTH));
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1000);
  });
});

it.each([
  ['/a?token=abc&x=1#top', '/a?token=[redacted]&x=1#top'],
  ['/a?x=1#access_token=abc&n=2', '/a?x=1#access_token=[redacted]&n=2'],
  ['#/reset?token=abc', '#/reset?token=[redacted]'],
  ['https://u:p@x.example/?api%5Fkey=1', 'https://[redacted]@x.example/?api%5Fkey=[redacted]'],
  ['/a?next=%2Freset%3Ftoken%3Dabc%26y%3D1', '/a?next=%2Freset%3Ftoken%3D[redacted]%26y%3D1'],
  ['/a?next=%252Freset%253Ftoken%253Dabc', '/a?next=%2Freset%3Ftoken%3D[redacted]'],
  ['/a?b=50%2525&c=%252B', '/a?b=50%2525&c=%252B'],
  ['/a?email=ann%40example.com', '/a?email=[redacted]'],
  ['/a?user%5Bpassword%5D=x', '/a?user%5Bpassword%5D=[redacted]'],
  ['/a?token=&b=%E0%A4%A', '/a?token=&b=%E0%A4%A'],
  ['/a?country_code=DE&sort_key=name&code=x', '/a?country_code=DE&sort_key=name&code=[redacted]'],
  ['/orders?page=2&sort=name+asc', '/orders?page=2&sort=name+asc'],
  ['data:text/html,<p>secret', 'data:text/html,…'],
])('the URL %s becomes %s', (url, expected) => {
  expect(scrubber.url(url)).toBe(expected);
});

it('no URL makes it throw', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff)), (codes) => {
      expect(typeof scrubber.url(`/?a=${String.fromCharCode(...codes)}`)).toBe('string');
    }),
  );
  expect(scrubber.url('/?a=\ud800ann%40b.de')).toContain('[redacted]');
});

describe('value', () => {
  it('redacts by key and by text, and says if it redacted something', () => {
    expect(
      scrubber.value({
        password: 'x',
        hasToken: true,
        cookie: '',
        session: { id: 1 },
        secret: null,
        user: { 'API-KEY': 12, note: `Bearer ${jwt}` },
        list: [['Authorization', 'x'], { name: 'Cookie', value: 'a=b' }, 'ann@example.com'],
        rawHeaders: ['Host', 'a', 'X-Api-Key', 'abcdefgh'],
        card: 4111111111111111,
      }),
    ).toEqual({
      password: '[redacted]',
      hasToken: true,
      cookie: '',
      session: '[redacted]',
      secret: null,
      user: { 'API-KEY': '[redacted]', note: 'Bearer [redacted]' },
      list: [['Authorization', '[redacted]'], { name: 'Cookie', value: '[redacted]' }, '[redacted]'],
      rawHeaders: ['Host', 'a', 'X-Api-Key', '[redacted]'],
      card: '[redacted]',
    });
  });

  it('copies values that JSON does not support', () => {
    const error = Object.assign(new TypeError('for ann@example.com', { cause: new Error('token=abc1') }), {
      code: 'E1',
    });
    expect(
      scrubber.value([
        new Map<unknown, unknown>([
          ['pin', 1],
          [{}, 2],
        ]),
        new Set(['a']),
        new Date(0),
        new Date(Number.NaN),
        12n,
        Number.NaN,
        Symbol('s'),
        () => undefined,
        Buffer.from('secret'),
        new URL('https://u:p@x.example/'),
        error,
        undefined,
        Object(3),
      ]),
    ).toEqual([
      { pin: '[redacted]', '[object]': 2 },
      ['a'],
      '1970-01-01T00:00:00.000Z',
      'Invalid Date',
      '12n',
      'NaN',
      'Symbol(s)',
      '[function]',
      '[6 bytes]',
      'https://[redacted]@x.example/',
      {
        name: 'TypeError',
        message: 'for [redacted]',
        cause: { name: 'Error', message: 'token=[redacted]', cause: undefined },
        code: 'E1',
      },
      undefined,
      3,
    ]);
  });

  it('handles hostile values', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.self = circle;
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = Object.defineProperty({ b: 1 }, 'a', {
      enumerable: true,
      get() {
        throw new Error('no');
      },
    });
    expect(scrubber.value([circle, proxy, throwing, { toJSON: 1 }])).toEqual([
      { a: 1, self: '[circular]' },
      '[unreadable]',
      { a: '[unreadable]', b: 1 },
      { toJSON: 1 },
    ]);
  });

  it('is limited in depth, width and text', () => {
    let deep: unknown = 'end';
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(JSON.stringify(scrubber.value(deep))).toContain('[cut]');
    const wide = scrubber.value(new Array(1_000_000).fill(1)) as unknown[];
    expect(wide.length).toBeLessThan(10_000);
    expect(wide.at(-1)).toBe('[cut]');
    const long = scrubber.value(new Array(1000).fill('word '.repeat(5000)));
    expect(JSON.stringify(long).length).toBeLessThan(500_000);
  });

  it('never throws, does not change its input, and returns plain JSON', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withMap: true,
          withSet: true,
          withNullPrototype: true,
          withTypedArray: true,
          withDate: true,
          withBigInt: true,
          withBoxedValues: true,
          withSparseArray: true,
        }),
        (value) => {
          expect(() => JSON.stringify(scrubber.value(value))).not.toThrow();
        },
      ),
    );
    const given = { password: 'x', list: [{ token: 'y' }] };
    scrubber.value(given);
    expect(given).toEqual({ password: 'x', list: [{ token: 'y' }] });
  });
});
