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
  /** Where the resources are mounted: `/api/desk`. */
  readonly base: string;
  /** Those of their methods that are an `operation()` are told of. */
  readonly resources: readonly Resource[];
  /** How a caller shows who they are: `{ token: { type: 'http', scheme: 'bearer' } }`. Any of them will do. */
  readonly security?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What any operation with this method may answer beside what it says itself. */
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

/** What `sendProblem()` writes. */
const ProblemBody = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().optional().describe('Where the desk shows this failure.'),
    digest: z.string().optional().describe('The kind of failure: what the desk has it under.'),
    errors: z.record(z.string(), z.string()).optional().describe('What is wrong with what was sent, by field.'),
  })
  .meta({ id: 'Problem', description: 'What went wrong (RFC 9457).' }) satisfies z.core.$ZodType<Problem>;

/**
 * Tells of resources in OpenAPI 3.1, by the schemas that their operations check and answer with. A
 * schema with an id (`.meta({ id: 'Person' })`) stands once, under that name.
 *
 * @throws Error where one id stands for two schemas, or one name for two operations
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

/** The document as a resource, which tells of itself too. It is made when somebody first asks for it. */
export function openApi(path: string, options: OpenApiOptions): Resource {
  let made: OpenApi | undefined;
  const own: Resource = resource(path, {
    GET: operation({
      id: 'getOpenApi',
      summary: 'This document',
      isOpen: true,
      replies: { 200: { about: 'What there is, in OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
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
    // Empty: this operation asks for no credentials.
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
  description: 'The `ETag` of what is there already: 304 where it is still the same.',
  schema: TEXT,
};
const ETAG = { ETag: 'Names the state of what is answered.' };

/** What is sent as JSON to a GET has an `ETag`, which is compared. */
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
    ...(facts.params && { 404: 'There is nothing here.' }),
    ...(facts.body && {
      413: 'The body is too large.',
      415: 'The body is no JSON.',
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
    ...(isCompared(method, facts) && { 304: toReply({ about: 'It is still the same.', headers: ETAG }, schemas) }),
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
    // OpenAPI 3.1 has no word for a stream: this is the schema of each line.
    ...(lines && { content: toContent(LINES_TYPE, schemas.read(lines, 'output')) }),
  };
}
