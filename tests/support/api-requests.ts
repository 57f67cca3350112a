import fc from 'fast-check';
import type { JsonSchema } from '../../src/server/engine/api/json-schemas.ts';
import type { OpenApi, OpenApiOperation } from '../../src/server/engine/api/openapi.ts';
import type { ApiDocument, ApiReply } from './api-document.ts';
import { type Draft, listFaults } from './api-faults.ts';

// Makes requests from an OpenAPI document: valid ones, and ones with one fault. Ids and versions from earlier responses
// are filled in when a request is sent, so that fast-check can shrink a list of requests.

export interface ApiRequest {
  readonly method: string;
  /** As it is sent, with the search. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** What may be wrong with it; undefined if it is valid according to the document. */
  readonly fault: string | undefined;
}

/** A request before it is known which ids exist. */
export type Plan = (memory: Memory) => ApiRequest;

/** What earlier responses have shown. */
export interface Memory {
  learn(request: Pick<ApiRequest, 'method' | 'target'>, reply: ApiReply): void;
  /** Values of a thing that has as many as possible of the first names, such as a ticket with its `key` and `number`. */
  recall(names: readonly string[], choice: number): Thing;
  /** The last version of what is at this URL. */
  tagOf(target: string): string | undefined;
  /** The search of the next page of a list. */
  nextPage(path: string): string | undefined;
}

type Thing = Readonly<Record<string, unknown>>;

export function createMemory(document: ApiDocument): Memory {
  const things: Thing[] = [];
  const tags = new Map<string, string>();
  const pages = new Map<string, string>();

  function recall(names: readonly string[], choice: number): Thing {
    const known = things.filter((thing) => names.every((name) => Object.hasOwn(thing, name)));
    const found = known[choice % known.length];
    if (!found) return names.length > 0 ? recall(names.slice(0, -1), choice) : {};
    return Object.fromEntries(names.map((name) => [name, found[name]]));
  }

  return {
    recall,
    learn({ method, target }, { status, headers, text }) {
      const operation = document.find(method, target);
      if (!operation || status >= 300) return;
      const { etag, location, link } = headers;
      // Express adds a hash of the body to every response.
      const isVersion = method === 'GET' || !String(etag).startsWith('W/');
      if (typeof etag === 'string' && isVersion) tags.set(String(location ?? target), etag);
      const [, path, search] = /<([^?>]+)\?([^>]*)>; rel="next"/.exec(String(link)) ?? [];
      if (path !== undefined && search !== undefined) pages.set(path, search);
      const isJson = String(headers['content-type']).startsWith('application/json');
      const found: unknown = isJson && text ? JSON.parse(text) : [];
      const params = readParams(operation.path, target);
      for (const thing of [found].flat().slice(0, 20)) things.push({ ...params, ...Object(thing) });
    },
    tagOf: (target) => tags.get(target),
    nextPage: (path) => pages.get(path),
  };
}

/** Reads `{id}` of `/todos/{id}`. */
function readParams(template: string, target: string): Thing {
  const parts = target.split('?')[0]?.split('/') ?? [];
  const names = template.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1]);
  return Object.fromEntries(
    names.flatMap((name, index) => (name === undefined ? [] : [[name, decodeURIComponent(parts[index] ?? '')]])),
  );
}

/** @param tokens of callers that the API knows */
export function planRequests(document: OpenApi, tokens: readonly string[] = []): fc.Arbitrary<Plan> {
  const { schemas } = document.components;
  const toValues = createValues(schemas);
  const listFields = (schema: JsonSchema): string[] =>
    typeof schema.$ref === 'string'
      ? listFields(schemas[toName(schema.$ref)] ?? {})
      : Object.keys(schema.properties ?? {});
  // Operations with many different responses are called more often.
  const plans = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => ({
      arbitrary: planOperation({ path, method, facts, tokens, toValues, listFields }),
      weight: Object.keys(facts.responses).length,
    })),
  );
  return fc.oneof(...plans);
}

/** For tests with `checkRuns()` (ms). A shared machine is slow, and the shortest run that fails takes time to find. */
export const RUNS_TIMEOUT = 240_000;

/** Runs a property. If it fails, the error is that of the shortest run, without the plans, which say nothing. */
export async function checkRuns<Args>(property: fc.IAsyncProperty<Args>, numRuns: number): Promise<void> {
  const options = { numRuns, interruptAfterTimeLimit: RUNS_TIMEOUT / 2, markInterruptAsFailure: true };
  const { failed, interrupted, errorInstance, seed, numRuns: done, numShrinks } = await fc.check(property, options);
  const words = errorInstance
    ? `shrunk ${numShrinks} times`
    : `${interrupted ? 'too slow' : 'failed'} after ${done} runs`;
  if (failed) throw new Error(`SEED=${seed}, ${words}`, { cause: errorInstance });
}

interface Planned {
  readonly path: string;
  readonly method: string;
  readonly facts: OpenApiOperation;
  readonly tokens: readonly string[];
  readonly toValues: (schema: JsonSchema) => fc.Arbitrary<unknown>;
  readonly listFields: (schema: JsonSchema) => readonly string[];
}

function planOperation({ path: template, method, facts, tokens, toValues, listFields }: Planned): fc.Arbitrary<Plan> {
  const { parameters = [], requestBody, security } = facts;
  const listOf = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const toFields = (place: string) =>
    fc.record(Object.fromEntries(listOf(place).map(({ name, schema }) => [name, toValues(schema)])), {
      requiredKeys: listOf(place).flatMap(({ name, required }) => (required ? name : [])),
    });
  const names = listOf('path').map(({ name }) => name);
  const takesHeader = (name: string) => listOf('header').some((header) => header.name === name);
  const toHeader = (name: string, ...texts: string[]) =>
    takesHeader(name) ? rarely(fc.constantFrom(...texts)) : fc.constant(undefined);
  const schema = requestBody?.content['application/json']?.schema;
  const fields = schema ? listFields(schema) : [];

  return fc
    .record({
      params: toFields('path'),
      query: toFields('query'),
      // How many of the names in the path are those of a known thing, and which thing.
      known: often(fc.constant(names.length), fc.nat(names.length)),
      choice: fc.nat(1000),
      // A field of the body that has the value of a known thing, such as a name that is taken.
      reused: fields.length > 0 ? rarely(fc.constantFrom(...fields)) : fc.constant(undefined),
      followsLink: rarely(fc.boolean()),
      body: schema ? toValues(schema) : fc.constant(undefined),
      token: fc.constantFrom(...tokens, ...(security.length > 0 ? [] : [undefined])),
      headers: fc.record({
        'If-Match': toHeader('If-Match', 'known', '*', '"stale"'),
        'If-None-Match': toHeader('If-None-Match', 'known', '*'),
        'Idempotency-Key': toHeader('Idempotency-Key', 'a', 'b', 'c d', '"e"'),
      }),
      fault: fc.oneof(
        fc.constant(undefined),
        listFaults({
          hasBody: schema !== undefined,
          hasAuth: security.length > 0,
          hasPages: listOf('query').some(({ name }) => name === 'cursor'),
          takesHeader,
        }),
      ),
    })
    .map(({ params, query, known, reused, choice, followsLink, body, token, headers, fault }) => (memory) => {
      const path = { ...params, ...memory.recall(names.slice(0, known), choice) };
      const draft: Draft = {
        method: method.toUpperCase(),
        path: template,
        params: Object.fromEntries(Object.entries(path).map(([name, value]) => [name, encode(value)])),
        search: Object.entries(query).flatMap(([name, value]) =>
          [value].flat().map((one) => `${encode(name)}=${encode(one)}`),
        ),
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
        body: reused === undefined ? body : { ...Object(body), ...memory.recall([reused], choice) },
      };
      const next = followsLink ? memory.nextPage(toTarget({ ...draft, search: [] })) : undefined;
      if (next !== undefined) draft.search = next.split('&');
      for (const [name, value] of Object.entries(headers)) {
        const text = value === 'known' ? memory.tagOf(toTarget(draft)) : value;
        if (text !== undefined) draft.headers[name] = text;
      }
      if (body !== undefined) draft.headers['Content-Type'] = 'application/json';
      fault?.change(draft);
      return {
        method: draft.method,
        target: toTarget(draft),
        headers: draft.headers,
        body: draft.bytes ?? (draft.body === undefined ? undefined : Buffer.from(JSON.stringify(draft.body))),
        fault: fault?.name ?? (reused === undefined ? undefined : `${reused} is that of a known thing`),
      };
    });
}

function encode(value: unknown): string {
  return encodeURIComponent(String(value));
}

function toTarget({ path, params, search }: Pick<Draft, 'path' | 'params' | 'search'>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => params[name] ?? '');
  return search.length > 0 ? `${filled}?${search.join('&')}` : filled;
}

const often = <A, B>(usual: fc.Arbitrary<A>, other: fc.Arbitrary<B>) =>
  fc.oneof({ arbitrary: usual, weight: 4 }, { arbitrary: other, weight: 1 });
const rarely = <A>(value: fc.Arbitrary<A>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, { arbitrary: value, weight: 1 });

// Values that a schema describes

function toName($ref: string): string {
  return $ref.replace('#/components/schemas/', '');
}

/** @param named the schemas that others refer to */
function createValues(named: Readonly<Record<string, JsonSchema>>): (schema: JsonSchema) => fc.Arbitrary<unknown> {
  const byName = fc.letrec((tie) =>
    Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, toValues(schema, (ref) => tie(ref))])),
  );
  return (schema) => toValues(schema, (name) => byName[name] as fc.Arbitrary<unknown>); // the document has all names
}

function toValues(schema: JsonSchema, resolve: (name: string) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const within = (inner: unknown) => toValues(inner as JsonSchema, resolve); // parts of a JSON Schema are ones
  const { $ref, anyOf, oneOf, properties = {}, required = [], items, additionalProperties } = schema;
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems, minProperties = 0, pattern } = schema;
  if (typeof $ref === 'string') return resolve(toName($ref));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  for (const choices of [anyOf, oneOf]) if (Array.isArray(choices)) return fc.oneof(...choices.map(within));
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const described = Object.entries(properties).map(([name, inner]) => [name, within(inner)] as const);
      const fields = fc
        .record(Object.fromEntries(described), { requiredKeys: [...required] })
        .filter((value) => Object.keys(value).length >= Number(minProperties));
      if (described.length > 0 || typeof additionalProperties !== 'object') return fields;
      return fc.dictionary(fc.string(), within(additionalProperties));
    }
    case 'array':
      return fc.array(within(items ?? {}), { minLength: Number(minItems), maxLength: Number(maxItems ?? 5) });
    case 'string':
      return typeof pattern === 'string'
        ? fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= Number(maxLength ?? Infinity))
        : toStrings(Number(minLength), Number(maxLength ?? 100));
    case 'integer':
      return fc.integer({ min: Number(minimum ?? -1e9), max: Math.min(Number(maximum ?? 1e9), 1e9) });
    case 'number':
      return fc.double({ min: Number(minimum ?? -1e9), max: Math.min(Number(maximum ?? 1e9), 1e9), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

/** Texts without white space around them, because it is often removed before the length is checked. */
function toStrings(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc
    .oneof(fc.string({ unit: 'grapheme', minLength, maxLength }), fc.constant('x'.repeat(maxLength)))
    .filter((text) => text.trim() === text && text.length >= minLength && text.length <= maxLength);
}
