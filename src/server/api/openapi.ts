import { isDeepStrictEqual } from 'node:util';
import type { ApiSchema, Method, OperationFacts, ReplyFacts } from '../../shared/api/operation.ts';
import { PROBLEM_TYPE } from '../../shared/api/problem.ts';
import { MULTIPART, NDJSON_TYPE } from '../../shared/wire/protocol.ts';
import { toSize } from '../../shared/words.ts';
import { ProblemBody } from '../errors/problem.ts';
import type { Auth } from './auth.ts';
import { MAX_KEY, MIN_OPEN_KEY } from './idempotency.ts';
import type { Implemented } from './implement.ts';

/** What the OpenAPI document says about the API as a whole. */
export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  /** Markdown. */
  readonly about?: string;
  /** Who can read the document and the reference. By default everyone. */
  readonly auth?: Auth;
  /** False: `/api/docs` is not served. */
  readonly reference?: false;
  /** Errors that any operation with this method can answer, in addition to its own. */
  readonly problems?: (method: Method) => Readonly<Record<number, string>>;
}

/** https://spec.openapis.org/oas/v3.1.1.html */
export type OpenApi = ReturnType<typeof createOpenApi>;

export type OpenApiOperation = ReturnType<typeof describe>;

interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/**
 * Describes operations in OpenAPI 3.1, with the schemas that check their requests and replies. A schema with an id
 * (`.meta({ id: 'Person' })`) appears once, under that name.
 *
 * @param base the path in front of the operations' paths: `/api`
 * @throws Error if two schemas have the same name
 */
export function createOpenApi(
  { title, version, about, problems }: DocumentFacts,
  base: string,
  operations: readonly Implemented[],
) {
  const schemas = createJsonSchemas();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of operations) {
    const { facts } = operation;
    const path = `${base}${facts.path}`.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][facts.method.toLowerCase()] = describe(operation, { schemas, problemsOf: problems });
  }
  const auths = operations.flatMap(({ auth }) => auth ?? []);
  const securitySchemes = Object.fromEntries(auths.map(({ name, scheme }) => [name, scheme]));
  return {
    openapi: '3.1.1',
    info: { title, version, ...(about !== undefined && { description: about }) },
    paths,
    components: { schemas: schemas.named, ...(auths.length > 0 && { securitySchemes }) },
  };
}

interface Making {
  readonly schemas: JsonSchemas;
  readonly problemsOf: DocumentFacts['problems'];
}

function describe(operation: Implemented, making: Making) {
  const { name, facts, auth } = operation;
  const { summary, about, body, multipart, deprecated } = facts;
  const parameters = listParameters(operation, making);
  return {
    operationId: name,
    summary,
    ...(about !== undefined && { description: about }),
    ...(deprecated && { deprecated: true }),
    ...(deprecated?.sunset !== undefined && { 'x-sunset': deprecated.sunset }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: toContent(multipart ? MULTIPART : 'application/json', body, 'input', making.schemas),
      },
    }),
    responses: listReplies(operation, making),
    security: auth ? [{ [auth.name]: [] }] : [],
  };
}

function listParameters(operation: Implemented, { schemas }: Making): OpenApiParameter[] {
  const { facts } = operation;
  const { path, params, query, headers, paged, ifMatch, idempotent } = facts;
  const known = toParameters(params, 'path', schemas);
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']): OpenApiParameter => {
    return known.find((parameter) => parameter.name === name) ?? { name, in: 'path', required: true, schema: TEXT };
  });
  return [
    ...inPath,
    ...toParameters(query, 'query', schemas),
    ...(paged ? [CURSOR, toLimit(paged)] : []),
    ...toParameters(headers, 'header', schemas).map((parameter) => ({
      ...parameter,
      name: parameter.name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    })),
    ...(ifMatch ? [IF_MATCH] : []),
    ...(idempotent ? [toIdempotencyKey(operation)] : []),
    ...(isCompared(operation) ? [IF_NONE_MATCH] : []),
  ];
}

function toParameters(
  schema: ApiSchema | undefined,
  place: OpenApiParameter['in'],
  schemas: JsonSchemas,
): OpenApiParameter[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemas.read(schema, 'input');
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

const TEXT = { type: 'string' } as const;
const CURSOR = optional('query', 'cursor', 'Where the page begins. Follow the `Link` header instead of making one up.');
const IF_MATCH = optional(
  'header',
  'If-Match',
  'The `ETag` of the version that you change. The answer is 412 if there is another one.',
);
const IF_NONE_MATCH = optional(
  'header',
  'If-None-Match',
  'The `ETag` of the version that you have. The answer is 304 if nothing has changed.',
);
const RATE_LIMIT = {
  RateLimit: 'How many requests are left (`r`), and in how many seconds the count starts again (`t`).',
  'RateLimit-Policy': 'How many requests (`q`) are accepted in how many seconds (`w`).',
};
const ETAG = { ETag: 'Identifies this version of the response.' };
const LINK = { Link: 'The URL of the next page, with `rel="next"`. Absent on the last page.' };

function optional(
  place: OpenApiParameter['in'],
  name: string,
  description: string,
  schema: JsonSchema = TEXT,
): OpenApiParameter {
  return { name, in: place, required: false, description, schema };
}

function toIdempotencyKey({ auth }: Implemented): OpenApiParameter {
  const what = auth ? 'Any text' : 'A random text, such as a UUID,';
  return optional(
    'header',
    'Idempotency-Key',
    `${what} that is new for each request. A repeated request gets the first response, for a day.`,
    { type: 'string', minLength: auth ? 1 : MIN_OPEN_KEY, maxLength: MAX_KEY },
  );
}

function toLimit({ limit, max }: NonNullable<OperationFacts['paged']>): OpenApiParameter {
  return optional('query', 'limit', 'The most items of a page.', {
    type: 'integer',
    minimum: 1,
    maximum: max,
    default: limit,
  });
}

/** The response to a GET has an `ETag`, which is compared, if it is JSON or the handler has a `version`. */
function isCompared({ facts: { method, replies }, version }: Implemented): boolean {
  return method === 'GET' && (version !== undefined || replies[200]?.body !== undefined);
}

function listReplies(operation: Implemented, { schemas, problemsOf }: Making): Record<string, OpenApiReply> {
  const { facts, auth } = operation;
  const { query, headers, body, multipart, params, paged, ifMatch, idempotent, limit } = facts;
  const problems: Record<number, string | undefined> = {
    ...(query || headers || body || paged ? { 400: 'The request is not valid.' } : {}),
    ...(auth && { 401: 'The caller is not known.' }),
    ...(params && { 404: 'Not found.' }),
    ...(idempotent && {
      400: 'The request is not valid.',
      409: 'The first request with this key is still running, or its result is unknown.',
      422: 'This key was used for another request.',
    }),
    ...(ifMatch && { 412: 'It has changed in the meantime.' }),
    ...(limit && { 429: 'Too many requests. `Retry-After` says how many seconds to wait.' }),
    ...(body && {
      413: multipart ? `The body is larger than ${toSize(multipart.maxBytes)}.` : 'The body is too large.',
      415: multipart ? 'The body is not a form.' : 'The body is not JSON.',
      422: 'The request is not valid.',
    }),
    ...(auth && problemsOf?.(facts.method)),
    ...facts.problems,
  };
  const content = { [PROBLEM_TYPE]: { schema: schemas.read(ProblemBody, 'output') } };
  const isTagged = isCompared(operation);
  const usual = { ...(isTagged && ETAG), ...(paged && LINK), ...(limit && RATE_LIMIT) };
  return {
    ...Object.fromEntries(
      Object.entries(facts.replies).map(([status, reply]) => [
        status,
        toReply({ ...reply, headers: { ...usual, ...reply.headers } }, schemas),
      ]),
    ),
    ...(isTagged && { 304: toReply({ about: 'Nothing has changed.', headers: ETAG }, schemas) }),
    ...Object.fromEntries(Object.entries(problems).map(([status, about]) => [status, { description: about, content }])),
    default: { description: 'Something else went wrong.', content },
  };
}

function toContent(type: string, schema: ApiSchema, side: 'input' | 'output', schemas: JsonSchemas) {
  return { [type]: { schema: schemas.read(schema, side) } };
}

type OpenApiReply = ReturnType<typeof toReply>;

function toReply({ about, body, lines, headers }: ReplyFacts, schemas: JsonSchemas) {
  const named = Object.entries(headers ?? {}).map(
    ([name, words]) => [name, { description: words, schema: TEXT }] as const,
  );
  return {
    description: about,
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
    ...(body && { content: toContent('application/json', body, 'output', schemas) }),
    // OpenAPI 3.1 cannot describe a stream: this is the schema of each line.
    ...(lines && { content: toContent(NDJSON_TYPE, lines, 'output', schemas) }),
  };
}

/** What is read of a schema in JSON Schema 2020-12. */
interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

type JsonSchemas = ReturnType<typeof createJsonSchemas>;

const LOCAL = '#/$defs/';
const NAMED = '#/components/schemas/';

/** Collects the schemas of a document. Schemas with an id (`.meta({ id: 'Person' })`) appear once, and are referenced. */
function createJsonSchemas() {
  const named: Record<string, JsonSchema> = {};

  function keep(id: string, schema: JsonSchema): void {
    if (id.startsWith('__') || JSON.stringify(schema).includes('"$ref":"#"')) {
      throw new Error("A schema contains itself, and has no name for that. Give it one: `.meta({ id: 'Tree' })`.");
    }
    if (named[id] && !isDeepStrictEqual(named[id], schema)) {
      throw new Error(
        `Two schemas have the id ${id}, or one schema differs between input and output (defaults, transforms). Use different ids.`,
      );
    }
    named[id] = schema;
  }

  return {
    /** @param side `input` is what callers send, `output` what they get */
    read(schema: ApiSchema, side: 'input' | 'output'): JsonSchema {
      const converted = schema['~standard'].jsonSchema[side]({ target: 'draft-2020-12' }) as JsonSchema;
      const { $schema: _version, $defs = {}, ...own } = converted;
      for (const [id, found] of Object.entries($defs as object)) keep(id, toNamed(found));
      return toNamed(own);
    },
    /** The schemas with an id, by their id. */
    named,
  };
}

/** Points references to the document's schemas, and omits bounds that every integer satisfies. */
function toNamed(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace(LOCAL, NAMED);
    if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) return undefined;
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value;
  });
}
