import * as z from 'zod';
import { PROBLEM_TYPE, type Problem } from '../errors/problem.ts';
import { LINES_TYPE } from '../request/send-lines.ts';
import { createJsonSchemas, type JsonSchema, type JsonSchemas } from './json-schemas.ts';
import { type OperationFacts, operation, type ReplyFacts } from './operation.ts';
import { type Method, type Resource, resource } from './resource.ts';

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  /** Markdown. */
  readonly about?: string;
  /** Path that the resources are mounted at: `/api/desk`. */
  readonly base: string;
  /** Methods that are an `operation()` appear in the document. */
  readonly resources: readonly Resource[];
  /** Ways for a caller to authenticate: `{ token: { type: 'http', scheme: 'bearer' } }`. Any one is enough. */
  readonly security?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Errors that any operation with this method can answer, in addition to its own. */
  readonly problems?: (method: Method) => Readonly<Record<number, string>>;
}

/** https://spec.openapis.org/oas/v3.1.1.html */
export type OpenApi = ReturnType<typeof createOpenApi>;

export type OpenApiOperation = ReturnType<typeof describe>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/** The body that `sendProblem()` writes. */
const ProblemBody = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().optional().describe('The page of this failure on the desk.'),
    digest: z.string().optional().describe('The digest, under which the desk lists this kind of failure.'),
    errors: z.record(z.string(), z.string()).optional().describe('Errors in the request, by field.'),
  })
  .meta({ id: 'Problem', description: 'What went wrong (RFC 9457).' }) satisfies z.core.$ZodType<Problem>;

/**
 * Describes resources in OpenAPI 3.1, with the schemas that their operations check and answer with. A schema with
 * an id (`.meta({ id: 'Person' })`) appears once, under that name.
 *
 * @throws Error if two schemas or two operations have the same id
 */
export function createOpenApi(options: OpenApiOptions) {
  const { title, version, about, base, resources, security } = options;
  const schemas = createJsonSchemas();
  const names = new Set<string>();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const { pattern, operations } of resources) {
    for (const [method, { facts }] of Object.entries(operations)) {
      if (names.has(facts.id)) throw new Error(`Two operations have the id ${facts.id}. Give each its own.`);
      names.add(facts.id);
      const path = `${base}${pattern}`.replace(/:(\w+)/g, '{$1}');
      paths[path] ??= {};
      paths[path][method.toLowerCase()] = describe(method as Method, pattern, facts, { schemas, options });
    }
  }
  return {
    openapi: '3.1.1',
    info: { title, version, ...(about !== undefined && { description: about }) },
    paths,
    components: { schemas: schemas.named(), ...(security && { securitySchemes: security }) },
    ...(security && { security: Object.keys(security).map((name) => ({ [name]: [] })) }),
  };
}

/** The document as a resource, which describes itself too. It is built for the first request. */
export function openApi(path: string, options: OpenApiOptions): Resource {
  let made: OpenApi | undefined;
  const own: Resource = resource(path, {
    GET: operation({
      id: 'getOpenApi',
      summary: 'This document',
      isOpen: true,
      replies: { 200: { about: 'The API, in OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
    }).handle(() => {
      made ??= createOpenApi({ ...options, resources: [...options.resources, own] });
      return { status: 200, body: { ...made } };
    }),
  });
  return own;
}

interface Making {
  readonly schemas: JsonSchemas;
  readonly options: OpenApiOptions;
}

function describe(method: Method, pattern: string, facts: OperationFacts, making: Making) {
  const { id, summary, about, isOpen, body } = facts;
  const parameters = listParameters(method, pattern, facts, making);
  return {
    operationId: id,
    summary,
    ...(about !== undefined && { description: about }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: making.schemas.read(body, 'input') } } },
    }),
    responses: listReplies(method, facts, making),
    // Empty: this operation needs no credentials.
    ...(isOpen && { security: [] as const }),
  };
}

function listParameters(method: Method, pattern: string, facts: OperationFacts, { schemas }: Making): Parameter[] {
  const inPath = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const known = toParameters(facts.params, 'path', schemas);
  return [
    ...inPath.map(
      (name): Parameter =>
        known.find((parameter) => parameter.name === name) ?? {
          name,
          in: 'path',
          required: true,
          schema: { type: 'string' },
        },
    ),
    ...toParameters(facts.query, 'query', schemas),
    ...toParameters(facts.headers, 'header', schemas).map((parameter) => ({
      ...parameter,
      name: parameter.name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    })),
    ...(isCompared(method, facts) ? [IF_NONE_MATCH] : []),
  ];
}

function toParameters(
  schema: z.core.$ZodObject | undefined,
  place: Parameter['in'],
  schemas: JsonSchemas,
): Parameter[] {
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
const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the version that you have. The answer is 304 if nothing has changed.',
  schema: TEXT,
};
const ETAG = { ETag: 'Identifies this version of the response.' };

/** JSON that answers a GET has an `ETag`, which is compared. */
function isCompared(method: Method, { replies }: OperationFacts): boolean {
  return method === 'GET' && replies[200]?.body !== undefined;
}

function listReplies(
  method: Method,
  facts: OperationFacts,
  { schemas, options }: Making,
): Record<string, OpenApiReply> {
  const problems = {
    ...(facts.query || facts.headers || facts.body ? { 400: 'The request is not valid.' } : {}),
    ...(facts.params && { 404: 'Not found.' }),
    ...(facts.body && {
      413: 'The body is too large.',
      415: 'The body is not JSON.',
      422: 'The request is not valid.',
    }),
    ...(!facts.isOpen && options.problems?.(method)),
    ...facts.problems,
  };
  const content = toContent(PROBLEM_TYPE, schemas.read(ProblemBody, 'output'));
  return {
    ...Object.fromEntries(
      Object.entries(facts.replies).map(([status, reply]) => [
        status,
        toReply(isCompared(method, facts) ? { ...reply, headers: { ...ETAG, ...reply.headers } } : reply, schemas),
      ]),
    ),
    ...(isCompared(method, facts) && { 304: toReply({ about: 'Nothing has changed.', headers: ETAG }, schemas) }),
    ...Object.fromEntries(Object.entries(problems).map(([status, about]) => [status, { description: about, content }])),
    default: { description: 'Something else went wrong.', content },
  };
}

function toContent(type: string, schema: JsonSchema): Readonly<Record<string, { readonly schema: JsonSchema }>> {
  return { [type]: { schema } };
}

type OpenApiReply = ReturnType<typeof toReply>;

function toReply({ about, body, lines, headers }: ReplyFacts, schemas: JsonSchemas) {
  const named = Object.entries(headers ?? {}).map(([name, words]) => [name, { description: words, schema: TEXT }]);
  return {
    description: about,
    ...(headers && { headers: Object.fromEntries(named) }),
    ...(body && { content: toContent('application/json', schemas.read(body, 'output')) }),
    // OpenAPI 3.1 cannot describe a stream: this is the schema of each line.
    ...(lines && { content: toContent(LINES_TYPE, schemas.read(lines, 'output')) }),
  };
}
