import fc from 'fast-check';

/** A request that is being made. Faults change it. */
export interface Draft {
  method: string;
  path: string;
  params: Record<string, string>;
  /** Encoded pairs, such as `a=b`. */
  search: string[];
  headers: Record<string, string>;
  body: unknown;
  /** Replaces the body. */
  bytes?: Buffer;
}

export interface Fault {
  readonly name: string;
  readonly change: (draft: Draft) => void;
}

function toFaults<Value>(
  name: string,
  values: fc.Arbitrary<Value>,
  change: (draft: Draft, value: Value) => void,
): fc.Arbitrary<Fault> {
  return values.map((value) => ({ name, change: (draft) => change(draft, value) }));
}

function faultyHeader(name: string, values: readonly (string | undefined)[]): fc.Arbitrary<Fault> {
  return toFaults(`${name} is wrong`, fc.constantFrom(...values), ({ headers }, value) => {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  });
}

const TAGS = ['"stale"', 'W/"1"', '1', '', ',', '"1", "2"', '*, "1"', '"', '"\u00e9"', `"${'x'.repeat(5000)}"`];
const KEYS = ['', ' ', '\u00e9', 'x'.repeat(255), 'x'.repeat(256)];

const LONE_SURROGATE = '\ud83d';
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, -1, 0.5, -1e9, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324],
  ...['', ' ', '\n', '0', '-1', '1e3', 'true', 'null', '\u0000', '\u202e', '🙂'.repeat(150), 'x'.repeat(20_000)],
  ...['constructor', '__proto__', LONE_SURROGATE, `a${LONE_SURROGATE}b`, '2026-02-30', '2026-01-01T00:00:00'],
  ...[[], [[]], [null], {}, { a: 1 }, { toString: 1 }, JSON.parse('{"__proto__": {"polluted": true}}')],
];
const values = fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue(), fc.string({ unit: 'binary' }));
const names = fc.oneof(
  fc.constantFrom('extra', 'constructor', '__proto__', 'toString', 'hasOwnProperty', '', 'é', LONE_SURROGATE),
  fc.string({ unit: 'binary' }),
);

interface Place {
  readonly holder: object;
  readonly name: string;
}

/** Lists the places of all values in a value. */
function listPlaces(holder: object): Place[] {
  return Object.entries(holder).flatMap(([name, value]) => [
    { holder, name },
    ...(typeof value === 'object' && value !== null ? listPlaces(value) : []),
  ]);
}

/** Assigns own properties only, `__proto__` too. */
function set({ holder, name }: Place, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Changes a copy of the body at one of its places. */
function editBody(draft: Draft, choice: number, edit: (place: Place) => void): void {
  const whole = { body: structuredClone(draft.body) };
  const places = listPlaces(whole);
  const place = places[choice % places.length];
  if (place) edit(place);
  draft.body = whole.body;
}

const toText = (draft: Draft) => JSON.stringify(draft.body) ?? '';

const BODIES: readonly (string | Buffer)[] = [
  ...['', ' ', '{', '[]', '{}', 'null', '7', '"text"', 'undefined', '{"a":1,"a":2}', "{'a':1}", '{"a":1}}', '\ufeff{}'],
  ...['{"__proto__":{"polluted":true}}', `${'['.repeat(40)}${']'.repeat(40)}`, '{"a":"\\ud83d"}', '{"\\ud83d":1}'],
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
];
const NUMBERS = ['1e999', '-1e999', '9007199254740993', '1e-999', '01', '+1', '.5', 'NaN', '0x10', '1e0'];

const BODY_FAULTS = [
  toFaults('a value is another one', fc.tuple(fc.nat(), values), (draft, [choice, value]) =>
    editBody(draft, choice, (place) => set(place, value)),
  ),
  toFaults('a field is missing', fc.nat(), (draft, choice) =>
    editBody(draft, choice, ({ holder, name }) => Reflect.deleteProperty(holder, name)),
  ),
  toFaults('a field is unknown', fc.tuple(names, values), (draft, [name, value]) =>
    editBody(draft, 0, (place) => {
      const { body } = place.holder as { body: unknown };
      if (typeof body === 'object' && body !== null) set({ holder: body, name }, value);
    }),
  ),
  toFaults('the body is another one', fc.constantFrom(...BODIES), (draft, bytes) => {
    draft.bytes = Buffer.from(bytes as string); // or a buffer, which is copied
  }),
  toFaults('the body has too many bytes', fc.constant(110 * 1024), (draft, count) => {
    draft.bytes = Buffer.from(toText(draft) + ' '.repeat(count));
  }),
  toFaults('the body has too many parts', fc.constant(50_000), (draft, count) => {
    draft.bytes = Buffer.from(`[${'1,'.repeat(count)}1]`);
  }),
  toFaults('the body is cut', fc.nat(), (draft, at) => {
    const text = toText(draft);
    draft.bytes = Buffer.from(text).subarray(0, at % text.length);
  }),
  toFaults('a number is odd', fc.constantFrom(...NUMBERS), (draft, number) => {
    draft.bytes = Buffer.from(toText(draft).replace(/:(?:"[^"]*"|[^,}\]]+)/, `:${number}`));
  }),
  faultyHeader('Content-Type', [
    ...[undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/problem+json', 'nonsense'],
    'application/json; charset=utf-16',
  ]),
  faultyHeader('Content-Encoding', ['gzip', 'br', 'identity, gzip']),
];

const TOKEN_FAULTS = [
  faultyHeader('Authorization', [undefined, 'Bearer unknown']),
  faultyHeader('Authorization', [
    ...['Bearer', 'bearer ', 'Bearer two words', 'Bearer t\u00e9', `Bearer ${'x'.repeat(600)}`],
    ...['Bearer __proto__', 'Bearer constructor', 'Basic YTpi'],
  ]),
];

const SEGMENTS = [
  ...['__proto__', 'constructor', '-1', '0', '01', '1.0', '1e3', '9007199254740993', 'x'.repeat(3000), '', '..', '.'],
  ...['%20', '%00', '%zz', '%', '%E0%A4', '%ED%A0%80', '%F0%9F%99%82', '%2F', '%252F', '*', ':id', '{id}'],
];
const PAIRS = [
  ...['extra=1', 'constructor=1', '__proto__=1', '__proto__[a]=1', '', '=', '=1', '&', `a=${'x'.repeat(9000)}`],
  ...['a=%zz', '%=1', 'a=%E0%A4', 'a=%00', 'a=%ED%A0%80', 'a=+'],
];
const PAGES = [
  ...['limit=1', 'limit=0', 'limit=-1', 'limit=1e1', 'limit=9999999', 'limit=1&limit=2', 'limit', 'limit=%F0%9F%99%82'],
  ...['cursor=', 'cursor=nonsense', 'cursor=-1', 'cursor=1e999', 'cursor=1&cursor=2', 'cursor=%F0%9F%99%82'],
];
const PAGE_FAULT = toFaults('the page is another one', fc.constantFrom(...PAGES), (draft, pair) => {
  const [name] = pair.split('=');
  draft.search = [...draft.search.filter((one) => one.split('=')[0] !== name), pair];
});
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const FAULTS = [
  toFaults(
    'a part of the path is another one',
    fc.tuple(fc.nat(), fc.constantFrom(...SEGMENTS)),
    (draft, [choice, text]) => {
      const known = Object.keys(draft.params);
      const name = known[choice % known.length];
      if (name === undefined) draft.path += text;
      else draft.params[name] = text;
    },
  ),
  toFaults('the path is another one', fc.constantFrom('/', '//', '/more', '?', '.json', 'X'), (draft, end) => {
    draft.path += end;
  }),
  toFaults('the search has another name', fc.constantFrom(...PAIRS), ({ search }, pair) => void search.push(pair)),
  toFaults('the search has a name twice', fc.nat(), ({ search }, choice) => {
    const pair = search[choice % search.length];
    if (pair !== undefined) search.push(pair);
  }),
  toFaults('the search has another value', fc.tuple(fc.nat(), values), ({ search }, [choice, value]) => {
    const name = search[choice % search.length]?.split('=')[0];
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
    if (name !== undefined) search[choice % search.length] = `${name}=${encodeURIComponent(text)}`;
  }),
  toFaults('the method is another one', fc.constantFrom(...METHODS), (draft, method) => {
    draft.method = method;
  }),
  faultyHeader('If-None-Match', TAGS),
  faultyHeader('Accept', ['text/html', 'application/xml', '*/*;q=0', '']),
];

export interface FaultOptions {
  readonly hasBody: boolean;
  readonly hasAuth: boolean;
  readonly hasPages: boolean;
  readonly takesHeader: (name: string) => boolean;
}

/** The faults of a request to an operation, one at a time. */
export function listFaults({ hasBody, hasAuth, hasPages, takesHeader }: FaultOptions): fc.Arbitrary<Fault> {
  return fc.oneof(
    ...FAULTS,
    ...(hasBody ? BODY_FAULTS : []),
    ...(hasAuth ? TOKEN_FAULTS : []),
    ...(hasPages ? [PAGE_FAULT] : []),
    ...(takesHeader('If-Match') ? [faultyHeader('If-Match', TAGS)] : []),
    ...(takesHeader('Idempotency-Key') ? [faultyHeader('Idempotency-Key', KEYS)] : []),
  );
}
